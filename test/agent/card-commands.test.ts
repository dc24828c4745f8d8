import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openCard, parseCard, verifyA2aCard } from '../../src/cards/index.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { escapeUnprintable } from '../../src/core/printable.ts'
import { U64_MAX, u64, unixSeconds } from '../../src/core/u64.ts'
import vectors from '../vectors/cards.json' with { type: 'json' }
import { ALICE, cardText, fileWith, legacyCardText, parsed, signingWith, temporaryFolder } from './artefact-files.ts'
import { runLine } from './fake-io.ts'

const now = unixSeconds(Date)
const EXPIRED = cardText({ issuedAt: u64(now - 100n), expiresAt: u64(now - 10n) })
const EARLY = cardText({ issuedAt: u64(now + 5_000n), expiresAt: u64(now + 9_000n) })
const TAMPERED = cardText().replace('planner', 'plannex')
const LEGACY = vectors.cards.find(({ form }) => form === 'legacy')?.json ?? ''

const failures: readonly (readonly [string, string | Uint8Array, string])[] = [
  ['a changed card', TAMPERED, 'ERR_SIGNATURE_INVALID'],
  ['an expired card', EXPIRED, 'ERR_ARTEFACT_EXPIRED'],
  ['a card from the future', EARLY, 'ERR_ARTEFACT_EARLY'],
  ['a card in the legacy form', LEGACY, 'ERR_SIGNATURE_LEGACY'],
  ['nothing', '', 'ERR_ARTEFACT_INVALID'],
  ['an empty list', '[]', 'ERR_ARTEFACT_INVALID'],
  ['half a card', cardText().slice(0, 200), 'ERR_ARTEFACT_INVALID'],
  ['words', 'not a card', 'ERR_ARTEFACT_INVALID'],
  ['another document', '{"holder_pubkey":1}', 'ERR_ARTEFACT_INVALID'],
  ['a card with a member twice', cardText().replace('{', '{"cells":[],'), 'ERR_ARTEFACT_INVALID'],
  ['bytes that are no text', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d), 'ERR_ARTEFACT_INVALID'],
  ['a card that is too large', `{"role_tags":["${'x'.repeat(1_048_577)}"]}`, 'ERR_ARTEFACT_INVALID'],
]

describe('card make', () => {
  it('prints a compact card that verifies', async () => {
    const { status, stdout, stderr } = await runLine(
      ['card', 'make', '--roles', 'planner, reviewer', '--skills', 'review|Reviews code', '--card-ttl', '60'],
      signingWith(ALICE),
    )
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout))}\n`)
    const { body } = openCard(parseCard(stdout), { now: unixSeconds(Date) })
    expect(body).toMatchObject({ holder: ALICE.id, roleTags: ['planner', 'reviewer'], skills: [{ id: 'review' }] })
    expect(body.expiresAt - body.issuedAt).toBe(60n)
  })

  it('signs with the key of the state directory when no other is given', async () => {
    const env = { CT_AGENT_STATE_DIR: join(temporaryFolder(), 'state') }
    const holders = []
    for (let run = 0; run < 2; run += 1) {
      const { stdout } = await runLine(['card', 'make', '--roles', 'a'], env)
      holders.push(openCard(parseCard(stdout), { now: unixSeconds(Date) }).body.holder)
    }
    expect(holders[0]).toBe(holders[1])
    expect(holders[0]).not.toBe(ALICE.id)
  })

  it('names in an A2A card the holder as where it is called, wherever the card is found', async () => {
    const env = { ...signingWith(ALICE), CT_AGENT_CARD_URL: 'https://agent.example/.well-known/agent-card.json' }
    const { status, stdout } = await runLine(['card', 'make', '--roles', 'planner', '--a2a'], env)
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ supportedInterfaces: [{ url: expect.stringMatching(/^did:key:z/) }] })
    expect((await runLine(['card', 'make', '--roles', 'a', '--card-url', 'https://a'], env)).status).toBe(2)
  })

  it('makes an A2A card that verifies', async () => {
    const { status, stdout } = await runLine(['card', 'make', '--roles', 'planner', '--a2a'], signingWith(ALICE))
    expect(status).toBe(0)
    expect((await verifyA2aCard(stdout, { now: unixSeconds(Date) })).holder).toBe(ALICE.id)
    expect((await runLine(['card', 'verify'], {}, stdout)).stdout).toMatch(/^valid {2}holder=.* {2}A2A form\n$/)
    const json = parsed((await runLine(['card', 'verify', '--json'], {}, stdout)).stdout)
    expect(json).toMatchObject({ valid: true, holder: ALICE.id, form: 'a2a' })
    const tampered = await runLine(['card', 'verify'], {}, stdout.replace('Agent for planner', 'Agent for anyone'))
    expect([tampered.status, tampered.stdout]).toEqual([3, ''])
  })

  it('writes into a file in one step, and says so', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'card.json')
    writeFileSync(file, 'old')
    const { status, stdout, stderr } = await runLine(
      ['card', 'make', '--roles', 'a', '--out', file],
      signingWith(ALICE),
    )
    expect([status, stdout]).toEqual([0, ''])
    expect(stderr).toContain(file)
    expect((await runLine(['card', 'verify', file])).status).toBe(0)
    expect(readdirSync(folder)).toEqual(['card.json'])
  })

  it('writes through a link, and not over a folder or a pipe', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'inner'))
    writeFileSync(join(folder, 'real'), '')
    symlinkSync(join(folder, 'real'), join(folder, 'link'))
    symlinkSync(join(folder, 'inner'), join(folder, 'folder-link'))
    const write = (name: string) =>
      runLine(['card', 'make', '--roles', 'a', '--out', join(folder, name)], signingWith(ALICE))
    expect((await write('link')).status).toBe(0)
    expect(readFileSync(join(folder, 'real'), 'utf8')).toContain(ALICE.id)
    for (const name of ['inner', 'folder-link', 'missing/card.json']) {
      const { status, stderr } = await write(name)
      expect(status).toBe(ERROR_CODES.ERR_USAGE.exit)
      expect(stderr).toContain('cannot write')
    }
    expect(readdirSync(join(folder, 'inner'))).toEqual([])
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect((await write('pipe')).status).toBe(ERROR_CODES.ERR_USAGE.exit)
    expect(statSync(join(folder, 'pipe')).isFIFO()).toBe(true)
  })

  it('names every setting that is missing or wrong', async () => {
    const none = await runLine(['card', 'make'], signingWith(ALICE))
    expect([none.status, none.stdout]).toEqual([2, ''])
    expect(none.stderr).toContain('CT_AGENT_CARD_ROLES required')
    const wrong = await runLine(['card', 'make', '--roles', 'a', '--card-ttl', '0'], { CT_CHANNEL_HOLDER_KEY: 'feed' })
    for (const name of ['CT_CHANNEL_HOLDER_KEY', 'CT_AGENT_CARD_TTL_SECS']) expect(wrong.stderr).toContain(name)
  })
})

describe('card verify', () => {
  it('prints one line for a valid card, from a file and from stdin', async () => {
    const expected = {
      status: 0,
      stdout: `valid  holder=${ALICE.id}  role_tags=["planner", "reviewer"]  expires_at=${now + 3_600n}\n`,
      stderr: '',
    }
    const card = cardText({ issuedAt: now, expiresAt: u64(now + 3_600n) })
    expect(await runLine(['card', 'verify', fileWith(card)])).toEqual(expected)
    expect(await runLine(['card', 'verify', fileWith(`\ufeff[${card}\n]`)])).toEqual(expected)
    expect(await runLine(['card', 'verify', '-'], {}, card)).toEqual(expected)
    expect(await runLine(['card', 'verify'], {}, card)).toEqual(expected)
  })

  for (const [name, content, code] of failures) {
    it(`refuses ${name}, naming the file`, async () => {
      const file = fileWith(content)
      const { status, stdout, stderr } = await runLine(['card', 'verify', file])
      expect([status, stdout]).toEqual([ERROR_CODES[code as keyof typeof ERROR_CODES].exit, ''])
      expect(stderr).toContain(`ct-agent: ${JSON.stringify(file)}: `)
      expect(stderr).toContain(`  ${code}: `)
    })
  }

  it('refuses a folder and what cannot be read, naming it', async () => {
    for (const path of [temporaryFolder(), join(temporaryFolder(), 'missing')]) {
      for (const json of [[], ['--json']]) {
        const { status, stdout, stderr } = await runLine(['card', 'verify', path, ...json])
        expect([status, stdout]).toEqual([ERROR_CODES.ERR_USAGE.exit, ''])
        expect(stderr).toContain('cannot read')
        expect(stderr).toContain(path)
      }
    }
  })

  it('accepts the legacy form only behind the switch, and then says so', async () => {
    const card = legacyCardText()
    for (const [flags, env] of [
      [['--accept-legacy'], {}],
      [[], { CT_ACCEPT_LEGACY_SIGNATURES: '1' }],
    ] as const) {
      const { status, stdout } = await runLine(['card', 'verify', ...flags], env, card)
      expect([status, stdout]).toEqual([0, expect.stringMatching(/^valid .* {2}legacy form\n$/)])
      const many = await runLine(['card', 'verify', ...flags], env, `${card}${cardText()}`)
      expect(many).toMatchObject({ status: 0, stdout: '2 valid (1 in the legacy form), 0 invalid\n' })
    }
    expect((await runLine(['card', 'verify'], {}, card)).status).toBe(ERROR_CODES.ERR_SIGNATURE_LEGACY.exit)
    // The published card has the right signature, and has expired.
    const published = await runLine(['card', 'verify', '--accept-legacy'], {}, LEGACY)
    expect(published.stderr).toContain('  ERR_ARTEFACT_EXPIRED: ')
  })

  it('lets clocks differ by as much as is said', async () => {
    const card = cardText({ issuedAt: u64(unixSeconds(Date) + 600n), expiresAt: U64_MAX })
    for (const [skew, status] of [
      ['500', 3],
      ['700', 0],
    ] as const) {
      expect((await runLine(['card', 'verify', '--clock-skew', skew], {}, card)).status).toBe(status)
      expect((await runLine(['card', 'verify'], { CT_CLOCK_SKEW_SECS: skew }, card)).status).toBe(status)
    }
    expect(parsed((await runLine(['card', 'verify', '--json', '--clock-skew', '700'], {}, card)).stdout)).toEqual({
      index: 1n,
      valid: true,
      holder: ALICE.id,
      expires_at: U64_MAX,
      form: 'current',
    })
  })

  it('prints one line for each of many that is not valid, and counts', async () => {
    const cards = [TAMPERED, cardText(), 'nonsense', cardText(), EXPIRED]
    for (const text of [cards.join('\n'), `[${cards.join(',\n')}]`]) {
      const { status, stdout, stderr } = await runLine(['card', 'verify', fileWith(text)])
      expect([status, stderr]).toEqual([ERROR_CODES.ERR_SIGNATURE_INVALID.exit, ''])
      expect(stdout.split('\n')).toEqual([
        expect.stringMatching(/^document 1: ERR_SIGNATURE_INVALID agent card: /),
        expect.stringMatching(/^document 3: ERR_ARTEFACT_INVALID agent card: expected JSON/),
        expect.stringMatching(/^document 5: ERR_ARTEFACT_EXPIRED agent card: /),
        '2 valid, 3 invalid',
        '',
      ])
    }
  })

  it('prints one JSON line for each of many', async () => {
    const { status, stdout, stderr } = await runLine(['card', 'verify', '--json'], {}, `${cardText()}{}${TAMPERED}`)
    expect([status, stderr]).toEqual([ERROR_CODES.ERR_ARTEFACT_INVALID.exit, ''])
    expect(stdout.trimEnd().split('\n').map(parsed)).toMatchObject([
      { index: 1n, valid: true, holder: ALICE.id, form: 'current' },
      { index: 2n, valid: false, code: 'ERR_ARTEFACT_INVALID' },
      { index: 3n, valid: false, code: 'ERR_SIGNATURE_INVALID' },
    ])
  })

  it('lets nothing in a card steer a terminal', async () => {
    const roles = ['\u001b[2J', 'a"b\\', '\u202egnp', '\n']
    const { stdout } = await runLine(['card', 'verify'], {}, cardText({ roleTags: roles }))
    expect(stdout).toContain('role_tags=["\\u{1b}[2J", "a\\"b\\\\", "\\u{202e}gnp", "\\n"]')
    for (const verb of ['verify', 'show']) {
      for (const flags of [[], ['--json']]) {
        const shown = await runLine(['card', verb, ...flags], {}, cardText({ roleTags: roles }))
        expect(shown.stdout.replaceAll('\n', '')).toBe(escapeUnprintable(shown.stdout.replaceAll('\n', '')))
      }
    }
  })
})

describe('card show', () => {
  it('shows all fields of a valid card', async () => {
    const { status, stdout } = await runLine(['card', 'show'], {}, cardText())
    expect(status).toBe(0)
    expect(stdout).toMatch(/^agent card: valid, current form\n/)
    for (const part of [ALICE.id, 'planner', 'reviewer', 'review: Reviews code', 'for example: review this', '(17']) {
      expect(stdout).toContain(part)
    }
  })

  it('shows all fields also of one that is not valid, with its status', async () => {
    const { status, stdout, stderr } = await runLine(['card', 'show'], {}, TAMPERED)
    expect(status).toBe(ERROR_CODES.ERR_SIGNATURE_INVALID.exit)
    expect(stdout).toMatch(/^agent card: NOT VALID\n {2}problem {3}ERR_SIGNATURE_INVALID /)
    expect(stdout).toContain('plannex')
    expect(stderr).toContain('ERR_SIGNATURE_INVALID')
    const json = parsed((await runLine(['card', 'show', '--json'], {}, TAMPERED)).stdout)
    expect(json).toMatchObject({ valid: false, document: { role_tags: ['plannex', 'reviewer'] } })
  })

  it('shows many, each under its number', async () => {
    const { status, stdout } = await runLine(['card', 'show'], {}, `${cardText()}\n${EXPIRED}\n`)
    expect(status).toBe(ERROR_CODES.ERR_ARTEFACT_EXPIRED.exit)
    expect(stdout).toMatch(/^document 1, agent card: valid/)
    expect(stdout).toMatch(/\ndocument 2, agent card: NOT VALID\n/)
    expect(stdout).toMatch(/\n1 valid, 1 invalid\n$/)
  })

  it('shows a card that holds for ever', async () => {
    const { status, stdout } = await runLine(['card', 'show'], {}, cardText({ expiresAt: U64_MAX }))
    expect(status).toBe(0)
    expect(stdout).toContain(`expires   ${U64_MAX}\n`)
  })
})
