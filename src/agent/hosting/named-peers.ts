/**
 * The peers that a host is to use, as somebody named them.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { type PeerName, parsePeerName } from '../peers/peer-name.ts'
import { PeerStore } from '../peers/peer-store.ts'

/** @throws {CtError} `ERR_PEER_UNKNOWN` when no peer is called so, `ERR_USAGE` for what is no name */
export function knownName({ stateDir }: Pick<Context, 'stateDir'>, text: string): PeerName {
  const name = parsePeerName(text)
  if ('problem' in name) throw new CtError('ERR_USAGE', name.problem)
  new PeerStore(stateDir).get(name.value)
  return name.value
}

/** @throws {CtError} `ERR_USAGE` */
export function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new CtError('ERR_USAGE', `expected each peer once, found ${twice} twice`)
}
