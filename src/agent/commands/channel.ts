/**
 * `ct-agent channel`.
 *
 * @module
 */
import { type Context } from '../command.ts'

export function channel(_context: Context): Promise<number> {
  return Promise.resolve(0)
}
