import { existsSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { type HolderKey, holderKey, SecretKey } from '../../src/core/keys.ts'
import { until } from '../mcp/services/processes.ts'
import { type Agent } from './agent.ts'
import { Meeting } from './brokered.ts'
import { serving } from './members.ts'
import { it, SLOW, type Stage } from './stage.ts'

const LINES: Env = { CT_CHANNEL_CALL_SERVICE: 'echo' }
/** A removal is to hold within so long; the rest is what starting a program may take. */
const REMOVAL_MS = 1_000

/** A handler that never answers, and what to wait for until it runs. */
function hanging(stage: Stage): { readonly handler: string; readonly begun: () => Promise<void> } {
  const mark = stage.path('begun')
  return {
    handler: `touch '${mark}'; exec sleep 300`,
    begun: () => until('the call', () => existsSync(mark), 30_000),
  }
}

interface Own {
  readonly key: HolderKey
  readonly env: Env
}

function own(meeting: Meeting, direction: 'initiate' | 'accept', operator = meeting.operator): Own {
  const key = holderKey(SecretKey.generate())
  return {
    key,
    env: {
      CT_CHANNEL_HOLDER_KEY: toHex(key.secret.reveal()),
      CT_CHANNEL_GRANT: meeting.grant(key, { direction, operator }),
    },
  }
}

/** Starts the operator's command. */
function revoking(stage: Stage, meeting: Meeting, member: HolderKey, env: Env): Agent {
  return stage.start(['channel', 'revoke', '--member', member.id, '--json'], {
    env: {
      CT_CHANNEL_OPERATOR_KEY: toHex(meeting.operator.secret.reveal()),
      CT_REVOKE_CHANNEL: meeting.channel,
      ...env,
    },
  })
}

/** Milliseconds from when the list was out to the end of the agent. */
async function endedAfter(list: Agent, agent: Agent): Promise<number> {
  const [began, ended] = await Promise.all([
    list.line().then(() => performance.now()),
    agent.exit.then(() => performance.now()),
  ])
  return ended - began
}

describe.concurrent('an operator that removes', SLOW, () => {
  it('a caller ends its call that is under way, and keeps it out, over the broker', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { handler, begun } = hanging(stage)
    const { address } = await meeting.broker()
    await meeting.accept(address, serving(handler))
    const removed = own(meeting, 'initiate')
    const caller = meeting.initiate(address, { ...LINES, ...removed.env }).write('one\n')
    await begun()
    const list = revoking(stage, meeting, removed.key, { CT_CHANNEL_BROKER: address })
    expect(await endedAfter(list, caller)).toBeLessThan(REMOVAL_MS)
    // It was sent, so it may have run.
    expect(JSON.parse(caller.lines[0] ?? '')).toMatchObject({ code: 'ERR_CALL_OUTCOME_UNKNOWN', ok: false })
    expect(caller.stderr).toContain('ERR_MEMBER_REMOVED')
    expect((await list.exit).status).toBe(0)
    expect(JSON.parse(list.stdout)).toMatchObject({ removed: [removed.key.id], published: true })

    const again = meeting.initiate(address, { ...LINES, ...removed.env }).end('two\n')
    expect((await again.exit).status).toBe(1)
    expect(again.stderr).toMatch(/the broker refused the join \(not-member\): the operator removed/)
    const other = meeting.initiate(address, { CT_CHANNEL_CALL: 'tools/list' })
    expect((await other.exit).status).toBe(0)
  })

  it('an acceptor ends the sessions that go to it, also direct ones', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { handler, begun } = hanging(stage)
    const { address } = await meeting.broker()
    const removed = own(meeting, 'accept')
    const acceptor = await meeting.accept(
      address,
      serving(handler, { ...removed.env, CT_CHANNEL_LISTEN: '127.0.0.1:0' }),
    )
    const caller = meeting.initiate(address, LINES).write('one\n')
    await caller.says(/goes directly/)
    await begun()
    const list = revoking(stage, meeting, removed.key, { CT_CHANNEL_BROKER: address })
    expect(await endedAfter(list, acceptor)).toBeLessThan(REMOVAL_MS)
    await caller.says(/ERR_MEMBER_REMOVED/)
    expect(acceptor.stderr).toContain('ERR_MEMBER_REMOVED')
  })

  it('a caller by a file, while there is no broker', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { handler, begun } = hanging(stage)
    const { address, agent: broker } = await meeting.broker()
    const file = stage.path('removed.list')
    await meeting.accept(address, serving(handler, { CT_CHANNEL_LISTEN: '127.0.0.1:0', CT_CHANNEL_REVOCATIONS: file }))
    const removed = own(meeting, 'initiate')
    const caller = meeting.initiate(address, { ...LINES, ...removed.env }).write('one\n')
    await begun()
    await broker.kill()
    const list = revoking(stage, meeting, removed.key, { CT_CHANNEL_REVOCATIONS: file })
    expect(await endedAfter(list, caller)).toBeLessThan(REMOVAL_MS)
    expect(caller.stderr).toContain('ERR_MEMBER_REMOVED')
    expect(readFileSync(file, 'utf8').trim()).toBe((JSON.parse(list.stdout) as { list: string }).list)
  })

  it('one after the other adds to what it removed before, also with nothing but the broker to know it', async ({
    stage,
  }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const [one, other] = [own(meeting, 'initiate').key, own(meeting, 'initiate').key]
    const removedBy = async (member: HolderKey, env: Env = {}): Promise<readonly string[]> => {
      const list = revoking(stage, meeting, member, { CT_CHANNEL_BROKER: address, ...env })
      expect((await list.exit).status).toBe(0)
      return (JSON.parse(list.stdout) as { removed: string[] }).removed
    }
    expect(await removedBy(one)).toEqual([one.id])
    expect(await removedBy(other)).toEqual([one.id, other.id].sort())
    const file = stage.path('kept.list')
    const acceptor = await meeting.accept(address, serving('cat', { CT_CHANNEL_REVOCATIONS: file }))
    const third = own(meeting, 'initiate').key
    expect(await removedBy(third)).toEqual([one.id, other.id, third.id].sort())
    await until('the list in the file', () => readFileSync(file, 'utf8').length > 2 * 3 * 64)
    acceptor.signal('SIGTERM')
    expect((await acceptor.exit).status).toBe(0)
  })
})

describe.concurrent('an operator that changes its key', SLOW, () => {
  it('tells all members at once, who then take what the new one signs', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const file = stage.path('removed.list')
    await meeting.accept(address, serving('cat', { CT_CHANNEL_REVOCATIONS: file }))
    const next = holderKey(SecretKey.generate())
    const rotation = stage.start(['channel', 'rotate-operator', '--overlap', '3600', '--json'], {
      env: {
        CT_CHANNEL_OPERATOR_KEY: toHex(meeting.operator.secret.reveal()),
        CT_CHANNEL_NEW_OPERATOR_KEY: toHex(next.secret.reveal()),
        CT_ROTATE_CHANNEL: meeting.channel,
        CT_CHANNEL_BROKER: address,
      },
    })
    expect((await rotation.exit).status).toBe(0)
    const { succession, from, to } = JSON.parse(rotation.stdout) as Record<string, string>
    expect([from, to]).toEqual([meeting.operator.id, next.id])
    await until(
      'the succession in the file',
      () => existsSync(file) && readFileSync(file, 'utf8').includes(succession ?? '?'),
    )

    const { key, env } = own(meeting, 'initiate', next)
    const shown = { CT_CHANNEL_SUCCESSIONS: succession }
    const list: Env = { CT_CHANNEL_CALL: 'tools/list' }
    const newcomer = meeting.initiate(address, { ...list, ...env, ...shown })
    expect((await newcomer.exit).status).toBe(0)
    const unaware = meeting.initiate(address, { ...list, ...env })
    expect((await unaware.exit).status).toBe(1)
    expect(unaware.stderr).toMatch(/CT_CHANNEL_GRANT: .*signature/)

    const removal = stage.start(['channel', 'revoke', '--member', key.id, '--json'], {
      env: {
        CT_CHANNEL_OPERATOR_KEY: toHex(next.secret.reveal()),
        CT_CHANNEL_OPERATOR_PUBKEY: meeting.operator.id,
        CT_REVOKE_CHANNEL: meeting.channel,
        CT_CHANNEL_BROKER: address,
        ...shown,
      },
    })
    expect((await removal.exit).status).toBe(0)
    const removed = meeting.initiate(address, { ...list, ...env, ...shown })
    expect((await removed.exit).status).toBe(1)
    expect(removed.stderr).toContain('the operator removed')
  })
})
