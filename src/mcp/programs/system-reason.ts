/**
 * @module
 */

/** Why the system refused, in its own word. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown reason'
}
