/**
 * The one answer that every rival gives to a ping, so that all of them carry the same bytes.
 *
 * @module
 */
export const PONG = { content: [{ type: 'text' as const, text: 'pong' }] }

/** Answers one JSON-RPC line. */
export function answerLine(line: string): string {
  const { id } = JSON.parse(line) as { readonly id: number }
  return `${JSON.stringify({ jsonrpc: '2.0', id, result: PONG })}\n`
}
