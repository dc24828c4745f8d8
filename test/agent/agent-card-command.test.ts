import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openCard, parseCard } from '../../src/cards/index.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { ALICE, cardText, fileWith, legacyCardText, signingWith, temporaryFolder } from './artefact-files.ts'
import { runLine } from './fake-io.ts'

const TOKEN = 'admin-token-0123456789'

/** Runs the command into a fresh folder. */
async function make(env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  const all = { ...signingWith(ALICE), CT_AGENT_CARD_ROLES: 'planner', CT_AGENT_CARD_SKILLS: 'a;b', ...env }
  const ended = await runLine(['channel', 'agent-card'], { CT_AGENT_CARD_OUT: `${folder}/out/`, ...all })
  return { ...ended, path: `${folder}/out/.well-known/agent-card.json`, folder }
}

interface Registered {
  readonly url: string | undefined
  readonly token: unknown
  readonly body: unknown
}

/** A control plane that answers so, and what it was sent. */
async function controlPlane(status: number): Promise<{ readonly url: string; readonly seen: Registered[] }> {
  const seen: Registered[] = []
  const server = createServer((request, response) => {
    const { url, headers } = request
    void textOf(request).then((body) => {
      seen.push({ url, token: headers['x-ct-admin-token'], body: JSON.parse(body) })
      response.writeHead(status, { location: 'http://127.0.0.1:1/elsewhere' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('expected a port')
  return { url: `http://127.0.0.1:${address.port}`, seen }
}

describe('channel agent-card', () => {
  it('writes the card without a line end, and prints where', async () => {
    const { status, stdout, stderr, path } = await make()
    expect([status, stdout]).toEqual([0, `${path}\n`])
    expect(stderr).toBe(
      'ct-agent: not auto-registered with /registry/agents — set CT_AGENT_CP_URL, CT_AGENT_CARD_URL (the https:// URL this card will be served at), and CT_CP_EDGE_ADMIN_TOKEN to do this automatically next time.\n',
    )
    const text = readFileSync(path, 'utf8')
    expect(text).toBe(JSON.stringify(JSON.parse(text)))
    expect(openCard(parseCard(text), { now: unixSeconds(Date) }).body).toMatchObject({
      holder: ALICE.id,
      roleTags: ['planner'],
    })
    expect(readdirSync(join(path, '..'))).toEqual(['agent-card.json'])
  })

  it('names the key and the roles when they are missing, the key first, and writes nothing', async () => {
    const { status, stdout, stderr, folder } = await make({ CT_CHANNEL_HOLDER_KEY: '', CT_AGENT_CARD_ROLES: ' ' })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      'Error: "CT_CHANNEL_HOLDER_KEY required (64 hex)"',
      'Error: "CT_AGENT_CARD_ROLES required (comma-separated role tags)"',
    ])
    expect(existsSync(`${folder}/out`)).toBe(false)
  })

  it('registers the card at the control plane', async () => {
    const { url, seen } = await controlPlane(204)
    const { status, stdout, stderr, path } = await make({
      CT_AGENT_CP_URL: `${url}/`,
      CT_AGENT_CARD_URL: 'https://agent.example.org/card',
      CT_CP_EDGE_ADMIN_TOKEN: TOKEN,
    })
    expect([status, stdout]).toEqual([0, `${path}\n`])
    expect(stderr).toBe(`registered at ${url}/registry/agents (card_url=https://agent.example.org/card)\n`)
    expect(seen).toEqual([
      {
        url: '/registry/agents',
        token: TOKEN,
        body: {
          holder_pubkey: ALICE.id,
          card_url: 'https://agent.example.org/card',
          role_tags: ['planner'],
          skill_ids: ['a', 'b'],
        },
      },
    ])
  })

  for (const answer of [302, 403, 500]) {
    it(`fails after the file is written when the control plane answers ${answer}, and shows no token`, async () => {
      const { url, seen } = await controlPlane(answer)
      const { status, stdout, stderr, path } = await make({
        CT_AGENT_CP_URL: url,
        CT_AGENT_CARD_URL: 'https://agent.example.org/card',
        CT_CP_EDGE_ADMIN_TOKEN: TOKEN,
      })
      expect([status, stdout, existsSync(path)]).toEqual([1, `${path}\n`, true])
      expect(stderr).toContain(`control-plane returned status ${answer}`)
      expect(stderr).not.toContain(TOKEN)
      expect(seen).toHaveLength(1)
    })
  }

  it('sends the token to no address that is neither encrypted nor local, and shows none', async () => {
    for (const url of [
      'http://example.org',
      'http://127.0.0.1.example.org',
      'ftp://127.0.0.1',
      'cp',
      'https://u:p@cp.org',
    ]) {
      const { status, stdout, stderr, folder } = await make({
        CT_AGENT_CP_URL: url,
        CT_AGENT_CARD_URL: 'https://agent.example.org/card',
        CT_CP_EDGE_ADMIN_TOKEN: TOKEN,
      })
      expect([status, stdout, existsSync(`${folder}/out`)]).toEqual([1, '', false])
      expect(stderr).toMatch(/^Error: "CT_AGENT_CP_URL invalid/)
    }
    const { stderr } = await make({ CT_CP_EDGE_ADMIN_TOKEN: `${TOKEN}\nx-evil: 1` })
    expect(stderr).toMatch(/^Error: "CT_CP_EDGE_ADMIN_TOKEN invalid/)
    expect(stderr).not.toContain(TOKEN)
  })
})

describe('channel agent-card --verify', () => {
  const verify = (path: string, ...flags: readonly string[]) =>
    runLine(['channel', 'agent-card', '--verify', path, ...flags])

  it('prints the line that scripts read', async () => {
    const { path } = await make({ CT_AGENT_CARD_ROLES: 'a,b' })
    const { expiresAt } = parseCard(readFileSync(path, 'utf8')).body
    expect(await verify(path)).toEqual({
      status: 0,
      stdout: `valid  holder=${ALICE.id}  role_tags=["a", "b"]  expires_at=${expiresAt}\n`,
      stderr: '',
    })
  })

  it('accepts the legacy form behind the switch, and then says so', async () => {
    const path = fileWith(legacyCardText())
    const { status, stdout } = await verify(path, '--accept-legacy')
    expect([status, stdout]).toEqual([0, expect.stringMatching(/ {2}expires_at=\d+ {2}legacy form\n$/)])
    expect((await verify(path)).status).toBe(1)
  })

  const now = unixSeconds(Date)
  const problems: readonly (readonly [string, string, RegExp])[] = [
    ['a changed card', cardText().replace('planner', 'p'), /now=\d+: bad holder signature \(expires_at=\d+\)"$/],
    ['an old card', cardText({ expiresAt: u64(now - 5n) }), /now=\d+: expired \(expires_at=\d+\)"$/],
    [
      'a card to come',
      cardText({ issuedAt: u64(now + 900n) }),
      /issued in the future \(issued_at=\d+, .* 60 seconds\)"$/,
    ],
    ['the legacy form', legacyCardText(), /legacy form, see CT_ACCEPT_LEGACY_SIGNATURES \(expires_at=\d+\)"$/],
  ]
  for (const [name, text, message] of problems) {
    it(`says which check ${name} fails`, async () => {
      const { status, stdout, stderr } = await verify(fileWith(text))
      expect([status, stdout]).toEqual([1, ''])
      const [first] = stderr.split('\n')
      expect(first).toMatch(/^Error: "card failed verification at now=\d+: /)
      expect(first).toMatch(message)
    })
  }

  it('says what is no card, and what cannot be read', async () => {
    for (const text of ['', '{', '{}', '[1]', `${cardText()}${cardText()}`]) {
      const { status, stdout, stderr } = await verify(fileWith(text))
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^Error: "not a valid AgentCard JSON profile: /)
    }
    for (const path of [join(temporaryFolder(), 'missing'), temporaryFolder()]) {
      const { status, stdout, stderr } = await verify(path)
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr.startsWith(`Error: "cannot read ${path}: E`)).toBe(true)
    }
  })
})
