/**
 * Callers in this process that meet a serving process through a relay in turn, again and again, each time anew.
 *
 * @module
 */
import { createDialler } from '../../src/channel/index.ts'
import { toHex } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { createMcpClient, resultOf } from '../../src/mcp/index.ts'
import { type Agent } from '../e2e/agent.ts'
import { Meeting } from '../e2e/brokered.ts'
import { type Stage } from '../e2e/stage.ts'
import { silentLog } from '../silent-log.ts'
import { placesOf, type SoakMember, soakSelf, soakTrust } from './soak-member.ts'

const MEETING_MS = 20_000
/** More than one: a broker slows a member that joins more than ten times a second. */
const CALLERS = 6

export interface RelayedCaller {
  readonly broker: Agent
  /** Opens a session, has one call answered, and ends it; resolves with how long that took. */
  readonly meet: () => Promise<number>
  readonly close: () => Promise<void>
}

export async function relayedCaller(stage: Stage): Promise<RelayedCaller> {
  const meeting = new Meeting(stage)
  const { agent: broker, address } = await meeting.broker()
  await meeting.accept(address, { CT_CHANNEL_SERVE: '1' })
  const open = await Promise.all(Array.from({ length: CALLERS }, () => openCaller(meeting, address)))
  let turn = 0
  return {
    broker,
    meet: () => {
      turn += 1
      return meetOnce(open[turn % CALLERS])
    },
    close: async () => {
      for (const { dialler } of open) await dialler.close()
    },
  }
}

async function openCaller(meeting: Meeting, broker: string) {
  const [holder, noise] = [SecretKey.generate(), SecretKey.generate()]
  const member: SoakMember = {
    operator: meeting.operator.id,
    channel: meeting.channel,
    holderKey: toHex(holder.reveal()),
    noiseKey: toHex(noise.reveal()),
    grant: meeting.grant(holderKey(holder)),
    broker,
  }
  const { operator, channel } = member
  const dialler = await createDialler(soakSelf(member, 'call', 0), systemClock, {
    broker: placesOf(member),
    relay: [],
    operator,
    channel,
    relayOnly: true,
    random: Math.random,
    onState: (state) => {
      if (state.kind === 'way' && state.way !== 'relay') throw new TypeError(`expected the relay, found ${state.way}`)
    },
  })
  return { dialler, target: { addresses: [], trust: { channel: soakTrust(member) } } }
}

async function meetOnce(caller: Awaited<ReturnType<typeof openCaller>> | undefined): Promise<number> {
  if (caller === undefined) throw new RangeError('expected a caller')
  const began = performance.now()
  const session = await caller.dialler.open(caller.target, AbortSignal.timeout(MEETING_MS))
  await session.ready
  const client = createMcpClient(session, { log: silentLog, clock: systemClock })
  resultOf(await client.request('tools/call', { name: 'ping' }, { timeoutMs: MEETING_MS }))
  const took = performance.now() - began
  client.close()
  session.end(new CtError('ERR_LINK_CLOSED', 'this meeting is over'))
  await session.finished
  return took
}
