/**
 * `ct-agent channel` as a caller that stays: each line of stdin is one call, each call one JSON line on stdout.
 *
 * @module
 */
import { type Context } from './command.ts'
import { type DirectConfig, type LocalSide } from './direct-config.ts'

export function callLines(
  _context: Context,
  _config: DirectConfig,
  _side: Extract<LocalSide, { kind: 'call-lines' }>,
): Promise<number> {
  return Promise.resolve(1)
}
