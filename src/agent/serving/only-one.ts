/**
 * One serving agent of a key at a broker: two would take the place there from each other.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { askAgents } from '../observing/status-client.ts'

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` when another process of this state folder serves with this key through a broker */
export async function refuseSecond(stateDir: string, own: HolderId): Promise<void> {
  const { agents } = await askAgents(stateDir)
  const other = agents.find(
    ({ command, holder, broker }) => command === 'serve' && holder === own && broker !== undefined,
  )
  if (other === undefined) return
  throw new CtError(
    'ERR_STATE_UNAVAILABLE',
    `ct-agent serve runs through a broker with this key already, as process ${String(other['pid'])}: stop it, or set another state folder`,
  )
}
