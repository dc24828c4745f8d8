/**
 * Names of peers on a command line.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type PeerName, parsePeerName } from '../peers/peer-name.ts'

/** @param where it stands @throws {CtError} `ERR_USAGE` */
export function nameIn(text: string, where: string): PeerName {
  const parsed = parsePeerName(text)
  if ('value' in parsed) return parsed.value
  throw new CtError('ERR_USAGE', `${where}: ${parsed.problem}`)
}
