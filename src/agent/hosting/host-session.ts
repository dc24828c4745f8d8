/**
 * One MCP host and the peers whose tools it uses as if they were local.
 *
 * Holds: the host is answered from the start, whoever is there; a peer is dialled only when the host first asks for
 * tools. What a host is told goes out in the protocol and nowhere else. When the host goes, everything ends soon.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { CtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { VERSION } from '../../core/version.ts'
import { type LinePort, toolsChangedText } from '../../mcp/adapter/index.ts'
import { createCallLedger, serveMcp } from '../../mcp/index.ts'
import { type HostedPeer, type HostedPeerOptions } from './hosted-peer.ts'
import { hostedTools } from './hosted-tools.ts'

export interface HostSessionDeps {
  /** Makes the peers; each tells when it has changed. */
  readonly peers: (onChange: HostedPeerOptions['onChange']) => readonly HostedPeer[]
  readonly clock: Clock
  readonly log: Log
  /** Ends the session. */
  readonly signal: AbortSignal
}

/** Goodbyes to peers take no longer when the host is gone. */
const GOODBYE_MS = 700

/** Serves the host until it is gone or the signal aborts. */
export async function serveHost(
  port: LinePort,
  { peers: makePeers, clock, log, signal }: HostSessionDeps,
): Promise<void> {
  const peers = makePeers(() => changed())
  let registry = hostedTools(peers)
  let wasListed = false
  const link = serveMcp(port, {
    registry: {
      find: (name) => registry.find(name),
      get list() {
        wasListed = true
        return registry.list
      },
    },
    prepare: async () => {
      await Promise.all(peers.map((peer) => peer.prepare()))
    },
    ledger: createCallLedger(clock),
    serverInfo: { name: 'ct-agent', version: VERSION, listChanges: true },
    randomId: randomUUID,
    log,
  })
  const changed = (): void => {
    registry = hostedTools(peers)
    // Who has not asked yet has nothing to ask again; those of the newest revision ask for such news themselves.
    if (link.isInitialized && wasListed) {
      port
        .send({ text: toolsChangedText() })
        .catch((error: unknown) => log.info('host.gone', { reason: String(error) }))
    }
  }
  const stop = (): void => port.end(new CtError('ERR_STOPPED', 'stopped by a signal'))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await port.closed
  link.close()
  const late = Promise.withResolvers<void>()
  const cancel = clock.after(GOODBYE_MS, late.resolve)
  await Promise.race([Promise.all(peers.map((peer) => peer.close())), late.promise])
  cancel()
}
