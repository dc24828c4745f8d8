/**
 * `ct-agent mcp`: a local MCP server for a host, whose tools are those of peers.
 *
 * @module
 */
import { parseTicket } from '../../channel/index.ts'
import { openLinePort } from '../../mcp/adapter/index.ts'
import { type Caller, openCaller } from '../calling/caller.ts'
import { timeLimit } from '../calling/link-source.ts'
import { type CallSettings, callerOptions, readCallSettings } from '../calling/peer-way.ts'
import { takePeers } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { serveHost } from '../hosting/host-session.ts'
import { HostedPeer, type OnTrouble } from '../hosting/hosted-peer.ts'
import { knownName, refuseTwice } from '../hosting/named-peers.ts'
import { write } from '../io.ts'
import { accessPeer } from '../peers/peer-access.ts'
import { defaultNames, looksLikeTicket } from '../peers/peer-name.ts'
import { watchShutdown } from '../shutdown.ts'

/** One attempt to reach a peer: what a host that waits for a list of tools bears with. */
const CONNECT_TIMEOUT_MS = 15_000

export async function mcp(context: Context): Promise<number> {
  const { io, clock, random, log } = context
  const settings = readCallSettings(context)
  const given = await takePeers(context)
  const named = given.map((peer) => ({ peer, label: labelOf(context, peer) }))
  refuseTwice(named.map(({ label }) => label))
  const shutdown = watchShutdown(io, 'ERR_STOPPED')
  try {
    await serveHost(openLinePort({ input: io.stdin, write: (line) => write(io.stdout, line) }), {
      peers: (onChange) =>
        named.map(
          ({ peer, label }) =>
            new HostedPeer({
              label,
              open: (signal, onTrouble) => open(context, settings, peer, { signal, onTrouble }),
              onChange,
              clock,
              random,
              log,
            }),
        ),
      clock,
      log,
      signal: shutdown.signal,
    })
    return 0
  } finally {
    shutdown.dispose()
  }
}

/** What a peer is called when nobody has named it yet stays so when it is joined. */
function labelOf(context: Context, given: string): string {
  return looksLikeTicket(given) ? defaultNames(parseTicket(given).holder)[0] : knownName(context, given)
}

interface Opening {
  readonly signal: AbortSignal
  readonly onTrouble: OnTrouble
}

/** Connects once; an invitation is redeemed by the first attempt. */
async function open(
  context: Context,
  settings: CallSettings,
  given: string,
  { signal, onTrouble }: Opening,
): Promise<Caller> {
  const { way, proved, keepRenewed } = await accessPeer(context, settings, given)
  const options = { ...callerOptions(context, way, { ...settings, reconnect: true }, proved), onTrouble }
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
