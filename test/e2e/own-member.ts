/**
 * A member inside the test, at either end of a direct channel.
 *
 * @module
 */
import { createDialler, listen, type SelfDescription, type Session, type Target } from '../../src/channel/index.ts'
import { type Listener } from '../../src/channel/listening/listen.ts'
import { CtError } from '../../src/core/errors.ts'
import { generateInstanceId, holderKey, noiseKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { createCallLedger, createToolRegistry, serveMcp, type Tool } from '../../src/mcp/index.ts'
import { silentLog } from '../silent-log.ts'
import { type Keys } from './members.ts'

type OnClose = (close: () => Promise<void>) => void

const LIMITS = {
  serve: { messageBytes: 65_536, inFlight: 1, idleSeconds: 0 },
  call: { messageBytes: 8_388_608, inFlight: 0, idleSeconds: 0 },
} as const

function selfOf({ holder, noise }: Keys, mode: 'serve' | 'call'): SelfDescription {
  const run = generateInstanceId()
  return { holder: holderKey(holder), noise: noiseKey(noise), run, agent: 'test/0', mode, limits: LIMITS[mode] }
}

export async function dialAs(keys: Keys, target: Target, onClose: OnClose): Promise<Session> {
  const dialler = await createDialler(selfOf(keys, 'call'), systemClock)
  onClose(() => dialler.close())
  return dialler.open(target, AbortSignal.timeout(20_000))
}

/** Admits the one caller. */
export async function listenAs(
  keys: Keys,
  caller: Keys,
  onSession: (session: Session) => void,
  onClose: OnClose,
): Promise<Listener> {
  const listener = await listen({
    self: selfOf(keys, 'serve'),
    listen: [{ host: '127.0.0.1', port: 0 }],
    trust: { holders: new Set([holderKey(caller.holder).id]) },
    maxSessions: 1,
    onSession,
    clock: systemClock,
    log: silentLog,
  })
  onClose(() => listener.close(new CtError('ERR_PEER_SHUTDOWN', 'the test is over')))
  return listener
}

export function servingTools(tools: readonly Tool[]): (session: Session) => void {
  const ledger = createCallLedger(systemClock)
  const registry = createToolRegistry(tools)
  const serverInfo = { name: 'test', version: '0' }
  return (session) => {
    serveMcp(session, { registry, ledger, log: silentLog, serverInfo, randomId: generateInstanceId })
  }
}
