import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../../src/agent/main.ts'
import { readListedCard } from '../../src/agent/registry/listed-card.ts'
import { type Broker } from '../../src/channel/broker/index.ts'
import { openCardRegistry } from '../../src/channel/card-registry/index.ts'
import { lifetime } from '../../src/core/artefact.ts'
import { type Env } from '../../src/core/env.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { systemClock } from '../../src/core/time.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { identity, OPERATOR, RawMember, startBroker } from '../channel/broker/raw-member.ts'
import { placesOf } from '../channel/brokered-members.ts'
import { closeAll, closing } from '../channel/members.ts'
import { ALICE, BOB, cardText, fileWith, parsed, signingWith } from './artefact-files.ts'
import { fakeIo, runLine } from './fake-io.ts'

afterEach(closeAll)

const CARDS = { cards: 100, perSource: 100, read: readListedCard }

function at({ ticketLine }: Broker, env: Env = {}): Env {
  return { CT_CHANNEL_BROKER: ticketLine, ...env }
}

function publish(broker: Broker, who: typeof ALICE, ...more: readonly string[]) {
  return runLine(['card', 'publish', ...more], at(broker, signingWith(who)))
}

describe('card publish and card find', () => {
  it('bring a card made of settings, and one from a file, to whoever looks for it', async () => {
    const broker = await startBroker({ cards: CARDS })
    const made = await publish(broker, BOB, '--roles', 'planner', '--skills', 'plan|Plans')
    expect([made.status, made.stderr]).toEqual([0, ''])
    expect(made.stdout).toMatch(new RegExp(`^published  holder=${BOB.id}  until=\\d{4}-\\d\\d-\\d\\dT.*\\n$`))
    const card = cardText()
    const json = parsed((await publish(broker, ALICE, fileWith(`[\n${card}\n]`), '--json')).stdout)
    expect(json).toEqual({ holder: ALICE.id, until: expect.any(BigInt), expires_at: json['until'] })

    const planners = await runLine(['card', 'find', '--role', 'planner'], at(broker))
    expect([planners.status, planners.stderr]).toEqual([0, ''])
    const lines = planners.stdout.trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines).toContain(card)
    const reviewers = await runLine(['card', 'find', '--role', 'planner', '--skill', 'review', '--json'], at(broker))
    expect(reviewers.stdout).toBe(`${card}\n`)
    expect((await runLine(['card', 'find', '--limit', '1'], at(broker))).stdout.trim().split('\n')).toHaveLength(1)
    expect((await runLine(['card', 'verify'], {}, reviewers.stdout)).status).toBe(0)
  })

  it('show cards as a table on a terminal', async () => {
    const broker = await startBroker({ cards: CARDS })
    await publish(broker, ALICE, fileWith(cardText()))
    const { io, stdout } = fakeIo({ isTTY: true })
    expect(await run(['card', 'find'], at(broker), io)).toBe(0)
    const [head, row, end] = stdout.text.split('\n')
    expect(head).toMatch(/^HOLDER {60}ROLES {14}SKILLS {2}EXPIRES IN$/)
    expect(row).toMatch(new RegExp(`^${ALICE.id}  planner, reviewer  review  (59|60) min$`))
    expect(end).toBe('')
  })

  it('withdraw a card', async () => {
    const broker = await startBroker({ cards: CARDS })
    await publish(broker, ALICE, fileWith(cardText()))
    expect((await publish(broker, ALICE, '--withdraw')).stdout).toBe(`withdrawn  holder=${ALICE.id}\n`)
    const again = await publish(broker, ALICE, '--withdraw', '--json')
    expect(parsed(again.stdout)).toEqual({ holder: ALICE.id, withdrawn: false })
    const none = await runLine(['card', 'find'], at(broker))
    expect([none.status, none.stdout, none.stderr]).toEqual([0, '', 'ct-agent: no card fits\n'])
  })

  it('leave out what does not verify, say so, and show the rest', async () => {
    // A broker that takes whatever it is sent for the card of whoever sends it.
    const broker = await startBroker({
      cards: {
        ...CARDS,
        read: (text) => ({
          ...readListedCard(cardText(), unixSeconds(Date)),
          holder: parsed(text)['holder_pubkey'] as never,
        }),
      },
    })
    const forged = cardText({ holder: ALICE.id }).replace('planner', 'forged')
    const registry = await openCardRegistry({ holder: ALICE, broker: placesOf(broker), clock: systemClock })
    closing(() => registry.close())
    await registry.publish(forged, AbortSignal.timeout(5_000))
    await publish(broker, BOB, '--roles', 'planner')
    const people = await runLine(['card', 'find'], at(broker))
    expect(people.status).toBe(0)
    expect(parsed(people.stdout)).toMatchObject({ holder_pubkey: BOB.id })
    expect(people.stderr).toMatch(/^ct-agent: a card is left out: ERR_SIGNATURE_INVALID agent card: [^\n]+\n$/)
    const programs = await runLine(['card', 'find', '--json'], at(broker))
    expect(parsed(programs.stdout)).toMatchObject({ holder_pubkey: BOB.id })
    expect(parsed(programs.stderr)).toMatchObject({ event: 'card.left_out', code: 'ERR_SIGNATURE_INVALID' })
  })

  it('say what the broker refuses', async () => {
    const broker = await startBroker({ cards: CARDS })
    await publish(broker, ALICE, fileWith(cardText()))
    const now = unixSeconds(Date)
    const older = cardText(lifetime(u64(now - 100n), u64(3_600)))
    const { status, stderr } = await publish(broker, ALICE, fileWith(older))
    expect(status).toBe(ERROR_CODES.ERR_PEER_REFUSED.exit)
    expect(stderr).toMatch(/the broker refused \(stale\): expected a card issued at/)
    const closed = await startBroker()
    const none = await runLine(['card', 'find'], at(closed))
    expect(none.status).toBe(ERROR_CODES.ERR_PROTOCOL.exit)
    expect(none.stderr).toContain('found one that keeps none')
  })

  it('are for members that are present, where the broker serves some operators alone', async () => {
    const broker = await startBroker({ cards: CARDS, operators: new Set([OPERATOR.id]) })
    const env = at(broker, signingWith(ALICE))
    const stranger = await runLine(['card', 'publish', '--roles', 'planner'], env)
    expect(stranger.stderr).toMatch(/the broker refused \(not-member\)/)
    const member = await RawMember.start(broker, { ...identity(), holder: ALICE })
    await (await member.join('accept')).hear('joined')
    expect((await runLine(['card', 'publish', '--roles', 'planner'], env)).status).toBe(0)
    expect(parsed((await runLine(['card', 'find'], at(broker))).stdout)).toMatchObject({ holder_pubkey: ALICE.id })
  })

  it('reach a broker that has an IPv6 address alone', async () => {
    const broker = await startBroker({ cards: CARDS, listen: [{ host: '::1', port: 0 }] })
    expect(broker.ticketLine).toMatch(/^\/ip6\/::1\/tcp\//)
    await publish(broker, ALICE, '--roles', 'planner')
    const [, port] = /\/tcp\/(\d+)/.exec(broker.ticketLine) ?? []
    const { stdout } = await runLine(['card', 'find'], { CT_CHANNEL_BROKER: `[::1]:${port}` })
    expect(parsed(stdout)).toMatchObject({ holder_pubkey: ALICE.id })
  })

  const mistakes: readonly (readonly [string, readonly string[], keyof typeof ERROR_CODES, RegExp])[] = [
    ['no broker', ['find'], 'ERR_CONFIG_INVALID', /CT_CHANNEL_BROKER required/],
    ['no card', ['publish', '--broker', '127.0.0.1:1'], 'ERR_CONFIG_INVALID', /CT_AGENT_CARD_ROLES required/],
    ['a limit of none', ['find', '--broker', '127.0.0.1:1', '--limit', '0'], 'ERR_USAGE', /--limit: expected/],
    ['both a card and none', ['publish', 'a', '--withdraw', '--broker', '127.0.0.1:1'], 'ERR_USAGE', /found both/],
    ['a broker that is not there', ['find', '--broker', '127.0.0.1:1'], 'ERR_PEER_UNREACHABLE', /connection refused/],
  ]
  for (const [name, words, code, says] of mistakes) {
    it(`refuse ${name}`, async () => {
      const { status, stdout, stderr } = await runLine(['card', ...words], signingWith(ALICE))
      expect([status, stdout]).toEqual([ERROR_CODES[code].exit, ''])
      expect(stderr).toMatch(says)
    })
  }

  it('publish no card of another holder, nor one that would not verify', async () => {
    const env = { CT_CHANNEL_BROKER: '127.0.0.1:1', ...signingWith(BOB) }
    const other = await runLine(['card', 'publish', fileWith(cardText())], env)
    expect(other.status).toBe(ERROR_CODES.ERR_USAGE.exit)
    expect(other.stderr).toMatch(/expected a card of this agent's key/)
    const forged = fileWith(cardText().replace('planner', 'plannex'))
    const bad = await runLine(['card', 'publish', forged], { ...env, ...signingWith(ALICE) })
    expect(bad.status).toBe(ERROR_CODES.ERR_SIGNATURE_INVALID.exit)
  })
})
