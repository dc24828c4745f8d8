/**
 * The peers that a host is to use, each connected to when it is first needed.
 *
 * @module
 */
import { parseTicket } from '../../channel/index.ts'
import { type PeerHandlers } from '../../mcp/index.ts'
import { type Caller, openCaller } from '../calling/caller.ts'
import { timeLimit } from '../calling/link-source.ts'
import { type CallSettings, callerOptions, readCallSettings } from '../calling/peer-way.ts'
import { type Context } from '../command.ts'
import { accessPeer } from '../peers/peer-access.ts'
import { defaultNames, looksLikeTicket } from '../peers/peer-name.ts'
import { HostedPeer, type HostedPeerOptions, type OnTrouble } from './hosted-peer.ts'
import { knownName, refuseTwice } from './named-peers.ts'

/** One attempt to reach a peer: what a host that waits for a list of tools bears with. */
const CONNECT_TIMEOUT_MS = 15_000

export interface HostedPeers {
  /** What they are called here. */
  readonly labels: readonly string[]
  readonly peers: (onChange: HostedPeerOptions['onChange']) => readonly HostedPeer[]
}

/**
 * @param given names and tickets
 * @throws {CtError} `ERR_PEER_UNKNOWN`, `ERR_TICKET_INVALID`, `ERR_USAGE`
 */
export function hostedPeers(context: Context, given: readonly string[]): HostedPeers {
  const { clock, random, log } = context
  const settings = readCallSettings(context)
  const named = given.map((peer) => ({ peer, label: labelOf(context, peer) }))
  const labels = named.map(({ label }) => label)
  refuseTwice(labels)
  return {
    labels,
    peers: (onChange) =>
      named.map(
        ({ peer, label }) =>
          new HostedPeer({
            label,
            open: (signal, onTrouble, handlers) => open(context, settings, peer, { signal, onTrouble, handlers }),
            onChange,
            clock,
            random,
            log,
          }),
      ),
  }
}

/** What a peer is called when nobody has named it yet stays so when it is joined. */
function labelOf(context: Context, given: string): string {
  return looksLikeTicket(given) ? defaultNames(parseTicket(given).holder)[0] : knownName(context, given)
}

interface Opening {
  readonly signal: AbortSignal
  readonly onTrouble: OnTrouble
  readonly handlers: PeerHandlers
}

/** Connects once; an invitation is redeemed by the first attempt. */
async function open(
  context: Context,
  settings: CallSettings,
  given: string,
  { signal, onTrouble, handlers }: Opening,
): Promise<Caller> {
  const { way, proved, keepRenewed } = await accessPeer(context, settings, given)
  const options = { ...callerOptions(context, way, { ...settings, reconnect: true }, proved), onTrouble, handlers }
  const caller = await openCaller(context, options, AbortSignal.any([signal, timeLimit(CONNECT_TIMEOUT_MS)]))
  const renewing = keepRenewed(caller)
  return {
    ...caller,
    finish: async () => {
      await renewing.stop()
      await caller.finish()
    },
  }
}
