/**
 * The peers that a host is to use, each connected to when it is first needed.
 *
 * @module
 */
import { parseTicket } from '../../channel/index.ts'
import { openPeer } from '../calling/open-peer.ts'
import { readCallSettings } from '../calling/peer-way.ts'
import { type Context } from '../command.ts'
import { defaultNames, looksLikeTicket } from '../peers/peer-name.ts'
import { HostedPeer, type HostedPeerOptions } from './hosted-peer.ts'
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
  const settings = { ...readCallSettings(context), reconnect: true }
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
            open: async (signal, onTrouble, handlers) => {
              const opening = { signal, withinMs: CONNECT_TIMEOUT_MS, onTrouble, handlers }
              return (await openPeer(context, settings, peer, opening)).caller
            },
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
