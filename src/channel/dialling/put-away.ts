/**
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { CtError } from '../../core/errors.ts'

/** Ends a connection that lost a race. */
export function putAway(connection: Connection): void {
  connection.abort(new CtError('ERR_LINK_CLOSED', 'another way was faster'))
}
