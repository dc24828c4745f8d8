/**
 * A peer by name or ticket, for whoever stays connected to it.
 *
 * @module
 */
import { type HolderId } from '../../core/ids.ts'
import { type Context } from '../command.ts'
import { accessPeer } from '../peers/peer-access.ts'
import { type Caller, type CallerOptions, openCaller } from './caller.ts'
import { timeLimit } from './link-source.ts'
import { type CallSettings, callerOptions } from './peer-way.ts'

export interface PeerOpening extends Pick<CallerOptions, 'onTrouble' | 'handlers'> {
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal | undefined
  /** So does this time. */
  readonly withinMs: number
}

/**
 * Connects once; an invitation is redeemed by it. What this agent is there is renewed until the caller is finished.
 *
 * @param given its name, or a ticket
 */
export async function openPeer(
  context: Context,
  settings: CallSettings,
  given: string,
  { signal, withinMs, ...more }: PeerOpening,
): Promise<{ readonly holder: HolderId; readonly caller: Caller }> {
  const { way, proved, keepRenewed } = await accessPeer(context, settings, given)
  const limit = timeLimit(withinMs)
  const first = signal === undefined ? limit : AbortSignal.any([signal, limit])
  const caller = await openCaller(context, { ...callerOptions(context, way, settings, proved), ...more }, first)
  const renewing = keepRenewed(caller)
  const finish = async (): Promise<void> => {
    await renewing.stop()
    await caller.finish()
  }
  return { holder: way.holder, caller: { ...caller, finish } }
}
