/**
 * A peer by name or ticket, for commands that ask something and go.
 *
 * @module
 */
import { CtError, isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Context } from '../command.ts'
import { accessPeer } from '../peers/peer-access.ts'
import { type Caller } from './caller.ts'
import { withCaller } from './one-call.ts'
import { callerOptions, readCallSettings } from './peer-way.ts'

/** Who talks to whom. */
export interface Ends {
  /** The peer that was named, and no other, is at the far end. */
  readonly peer: HolderId
  readonly self: HolderKey
  /** Aborts when SIGINT or SIGTERM comes, which also ends all calls. */
  readonly signal: AbortSignal
}

/**
 * Connects to the peer, asks, and says goodbye whatever came of it.
 *
 * @param given its name, or a ticket
 * @param waiting what is waited for once the call is sent, for a terminal
 */
export async function withPeer<Result>(
  context: Context,
  given: string,
  ask: (caller: Caller, ends: Ends) => Promise<Result>,
  waiting?: () => string,
): Promise<Result> {
  const settings = readCallSettings(context)
  const { way, name, proved, keepRenewed } = await accessPeer(context, settings, given)
  const options = { ...callerOptions(context, way, settings, proved), waiting }
  const ends = { peer: way.holder, self: way.self.holder }
  try {
    return await withCaller(context, options, async (caller, signal) => {
      // Its first request leaves before that of a renewal.
      const asked = ask(caller, { ...ends, signal })
      const renewing = keepRenewed(caller)
      try {
        return await asked
      } finally {
        await renewing.stop()
      }
    })
  } catch (error) {
    if (name === undefined || !isCtError(error, 'ERR_MEMBER_REMOVED')) throw error
    const { code, message, detail } = error
    throw new CtError(code, `${name} no longer takes this agent for a member (${message})`, { cause: error, detail })
  }
}
