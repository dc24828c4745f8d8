/**
 * ct-agent: the program of dist/ serves, the modules of src/ call.
 *
 * @module
 */
import { createDialler, type Dialler, parseTicket, type Session, type Target } from '../../src/channel/index.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { type Log } from '../../src/core/log.ts'
import { systemClock } from '../../src/core/time.ts'
import { createMcpClient, type McpClient, type RequestOptions, resultOf } from '../../src/mcp/index.ts'
import { agentEnv, PROGRAM, type Started, startServer } from '../children.ts'
import { type Subject } from '../subject.ts'
import { pushUntil } from './line-client.ts'

const BULK_TEXT = 'a'.repeat(1024 * 1024)
/** Enough to keep the link full, few enough to stay below what one peer may have under way. */
const BULK_CALLS_AT_ONCE = 4
const MESSAGE_BYTES = 8 * 1024 * 1024
const OPEN_TIMEOUT_MS = 20_000

// As bin/ct-agent.ts does for the caller that a user starts.
Error.stackTraceLimit = 0

const silentLog: Log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

export const ctAgentSubject: Subject = {
  name: 'ct-agent',
  open: async () => {
    const server = await serveAgent('server')
    const dialler = await createCaller()
    const session = await openSession(dialler, server.firstLine)
    const client = createMcpClient(session, { log: silentLog, clock: systemClock })
    await ping(client)
    return {
      serverPid: server.pid,
      ping: () => ping(client),
      push: (milliseconds) => pushCalls(client, milliseconds),
      close: async () => {
        client.close()
        await dialler.close()
        await server.stop()
      },
    }
  },
}

export function serveAgent(name: string, flags: readonly string[] = []): Promise<Started> {
  return startServer([PROGRAM, 'serve', '--listen', '127.0.0.1:0', ...flags], agentEnv(name))
}

export function createCaller(): Promise<Dialler> {
  return createDialler(
    {
      holder: holderKey(SecretKey.generate()),
      noise: noiseKey(SecretKey.generate()),
      run: generateInstanceId(),
      agent: 'ct-agent/bench',
      mode: 'call',
      limits: { messageBytes: MESSAGE_BYTES, inFlight: 0, idleSeconds: 0 },
    },
    systemClock,
  )
}

export async function openSession(dialler: Dialler, ticketText: string): Promise<Session> {
  const { addresses, holder, secret } = parseTicket(ticketText)
  const target: Target = {
    addresses,
    trust: { holders: new Set([holder]) },
    ...(secret === undefined ? {} : { ticketSecret: secret }),
  }
  const session = await dialler.open(target, AbortSignal.timeout(OPEN_TIMEOUT_MS))
  await session.ready
  return session
}

const patient: RequestOptions = { timeoutMs: OPEN_TIMEOUT_MS }

async function ping(client: McpClient): Promise<void> {
  resultOf(await client.request('tools/call', { name: 'ping' }, patient))
}

/** Bulk as users send it: calls with large arguments, several under way. */
async function pushCalls(client: McpClient, milliseconds: number): Promise<number> {
  let bytes = 0
  const sender = (): Promise<void> =>
    pushUntil(milliseconds, async () => {
      resultOf(await client.request('tools/call', { name: 'ping', arguments: { bulk: BULK_TEXT } }, patient))
      bytes += BULK_TEXT.length
    })
  await Promise.all(Array.from({ length: BULK_CALLS_AT_ONCE }, sender))
  return bytes
}
