/**
 * `ct-agent demo`.
 *
 * @module
 */
import { type Context } from '../command.ts'

export function demo(_context: Context): Promise<number> {
  return Promise.resolve(0)
}
