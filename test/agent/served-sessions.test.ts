import { afterEach, describe, expect, it } from 'vitest'
import { Reception } from '../../src/agent/members/reception.ts'
import { openOwnChannel } from '../../src/agent/serving/own-channel.ts'
import { GUEST_STAY_MS, ServedSessions } from '../../src/agent/serving/served-sessions.ts'
import { type Credentials, type SelfDescription, type Session } from '../../src/channel/index.ts'
import { attestNoiseKey, GRANT, passOn } from '../../src/channel/membership/index.ts'
import { seal } from '../../src/core/artefact.ts'
import { CtError } from '../../src/core/errors.ts'
import { generateInstanceId, holderKey, SecretKey as Key, type SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { saturatingAdd, u64, unixSeconds } from '../../src/core/u64.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { createToolRegistry, pingTool, type Tool } from '../../src/mcp/index.ts'
import { closeAll, closing, member, open, serve } from '../channel/members.ts'
import { settle } from '../mcp/port-pair.ts'
import { toolOf } from '../mcp/serve.ts'
import { silentLog } from '../silent-log.ts'
import { CHANNEL, DAY, emptyRoster, type Invited, invitation, joins, KEYS, OPERATOR } from './members/rosters.ts'

afterEach(closeAll)

const TICKET = Key.generate()

/** A clock that goes, and can be asked to let a time pass at once. */
function clockWithTimers() {
  const timers = new Map<number, Set<() => void>>()
  return {
    clock: {
      ...systemClock,
      after: (ms: number, run: () => void) => {
        const set = timers.get(ms) ?? new Set()
        timers.set(ms, set.add(run))
        return () => void set.delete(run)
      },
    },
    pass: (ms: number) => {
      for (const run of timers.get(ms) ?? []) run()
    },
    waiting: (ms: number) => timers.get(ms)?.size ?? 0,
  }
}

async function world(tools: readonly Tool[] = [pingTool]) {
  const roster = await emptyRoster()
  const now = unixSeconds(systemClock)
  const { clock, pass, waiting } = clockWithTimers()
  const reception = new Reception({
    roster,
    operator: KEYS,
    channel: CHANNEL,
    bearer: holderKey(TICKET).id,
    grantSeconds: DAY,
    clock,
    log: silentLog,
  })
  const self = member('serve')
  const own = openOwnChannel({
    operator: OPERATOR,
    channel: CHANNEL,
    self,
    invited: holderKey(TICKET).id,
    expiresAt: saturatingAdd(now, DAY),
    door: reception,
  })
  const deps = { registry: createToolRegistry(tools), methods: new Map(), clock, log: silentLog, reception }
  const sessions = new ServedSessions(deps)
  closing(() => Promise.resolve(sessions.close()))
  const shown = { ...self, credentials: () => own.credentials }
  const served: Session[] = []
  const onSession = (session: Session): void => {
    served.push(session)
    sessions.attach(session)
  }
  const { address } = await serve({ self: shown, trust: { channel: own.trust }, onSession })

  const connect = async (caller: SelfDescription, credentials: Credentials): Promise<Session> => {
    const trust = { channel: { operator: OPERATOR.id, channel: CHANNEL } }
    const session = await open({ ...caller, credentials: () => credentials }, { addresses: [address], trust })
    await session.ready
    return session
  }
  /** As who has this seed, whose grant the operator made. */
  const withSeed = (caller: SelfDescription, seed: SecretKey): Promise<Session> => {
    const end = saturatingAdd(now, DAY)
    const body = { channel: CHANNEL, holder: holderKey(seed).id, direction: 'initiate', rights: 'rw' } as const
    const grant = seal(GRANT, { ...body, delegable: true, expiresAt: end }, OPERATOR.secret)
    const grants = [grant, passOn(grant, seed, caller.holder.id)]
    return connect(caller, { grants, attestation: attestNoiseKey(CHANNEL, caller) })
  }
  const invite = (): Invited => {
    const made = invitation({ seconds: u64(1_000_000_000_000) })
    roster.update((page) => page.addInvitation(made.record))
    return made
  }
  const asMember = (caller: SelfDescription): Promise<Session> => {
    const { grant } = reception.documentOf(joins(roster, invite(), caller.holder.id, { now }).holder)
    return connect(caller, { grants: [grant], attestation: attestNoiseKey(CHANNEL, caller) })
  }
  return { roster, sessions, served, invite, withSeed, asMember, pass, waiting, now }
}

function ask(session: Session, method: string, params = {}) {
  const client = createMcpClient(session, { clock: systemClock, log: silentLog })
  return client.request(method, params, { timeoutMs: 10_000 })
}

describe('ServedSessions', () => {
  it('serves a guest no tool and does not let it stay', async () => {
    const { invite, withSeed, pass, waiting } = await world()
    const session = await withSeed(member('call'), invite().seed)
    expect(await ask(session, 'tools/list')).toMatchObject({ result: { tools: [] } })
    expect(waiting(GUEST_STAY_MS)).toBe(1)
    pass(GUEST_STAY_MS)
    expect((await session.closed).reason.code).toBe('ERR_TIMEOUT')
  })

  const kinds = ['member', 'bearer'] as const
  for (const kind of kinds) {
    it(`ends the session of a ${kind} that was removed, and of nobody else, and does not admit it again`, async () => {
      const { asMember, withSeed, sessions, roster, now } = await world()
      const [gone, stays] = [member('call'), member('call')]
      const connect = (caller: SelfDescription) => (kind === 'member' ? asMember(caller) : withSeed(caller, TICKET))
      const [one, other] = [await connect(gone), await connect(stays)]
      expect(await ask(one, 'tools/list')).toMatchObject({ result: { tools: [{ name: 'ping' }] } })
      const endsAt = saturatingAdd(now, DAY)
      roster.update((page) => page.remove({ holder: gone.holder.id, removedAt: now, endsAt }))
      sessions.review()
      const { reason, final } = await one.closed
      expect([reason.code, reason.detail['category'], final]).toEqual(['ERR_MEMBER_REMOVED', 'not-member', true])
      expect(await ask(other, 'ping')).toMatchObject({ result: {} })
      await expect(withSeed(gone, TICKET)).rejects.toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
    })
  }

  it('stops the call of a removed member also while its link is broken and may come back', async () => {
    const began = Promise.withResolvers<AbortSignal>()
    const hang = toolOf('hang', (_, { signal }) => {
      began.resolve(signal)
      return new Promise(() => {})
    })
    const { asMember, sessions, roster, now, served } = await world([hang])
    const caller = member('call')
    const session = await asMember(caller)
    const call = { instance: generateInstanceId(), sequence: 1, acknowledgedBelow: 1, resent: false }
    const params = { name: 'hang' }
    await session.send({ text: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), call })
    const signal = await began.promise
    session.end(new CtError('ERR_LINK_LOST', 'the wire broke'), { final: false })
    await served[0]?.closed
    await settle()
    expect(signal.aborted).toBe(false)
    roster.update((page) => page.remove({ holder: caller.holder.id, removedAt: now, endsAt: now }))
    sessions.review()
    expect(signal.reason).toMatchObject({ code: 'ERR_CALL_INTERRUPTED' })
  })

  it('limits a member to what it may do from now on, in the session that is up', async () => {
    const { asMember, sessions, roster } = await world()
    const caller = member('call')
    const session = await asMember(caller)
    const client = createMcpClient(session, { clock: systemClock, log: silentLog })
    const options = { timeoutMs: 10_000 }
    expect(await client.request('tools/list', {}, options)).toMatchObject({ result: { tools: [{ name: 'ping' }] } })
    roster.update((page) => {
      const known = page.member(caller.holder.id)
      if (known !== undefined) page.putMember({ ...known, rights: 'w' })
    })
    sessions.review()
    expect(await client.request('tools/list', {}, options)).toMatchObject({ error: { code: 'ERR_RIGHTS_MISSING' } })
  })
})
