/**
 * A relay of its own for a test, and people who use it by HTTP.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { type Log } from '../../src/core/log.ts'
import { systemClock } from '../../src/core/time.ts'
import { makeSecret } from '../../src/relay/identity/secrets.ts'
import { type DatabaseLocation, openRelay, operatorOf, type Relay } from '../../src/relay/index.ts'
import { type RelaySettings } from '../../src/relay/settings.ts'

const SILENT = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const DRAIN_MS = 1_000

interface RelayGiven {
  readonly settings?: Partial<RelaySettings>
  /** Unix milliseconds, instead of the clock of this machine. */
  readonly now?: () => number
  readonly log?: Log
}

interface TestRelay {
  readonly relay: Relay
  readonly url: string
  /** Somebody new, with an account of this slug and a key for all of it. */
  readonly person: (slug: string) => Promise<Person>
}

/** Ends with the test. */
export async function startRelay({ settings = {}, now, log = SILENT }: RelayGiven = {}): Promise<TestRelay> {
  const relay = await openRelay({
    database: await newDatabase(),
    host: '127.0.0.1',
    port: 0,
    settings,
    clock: now === undefined ? systemClock : { ...systemClock, now },
    log,
  })
  onTestFinished(() => relay.close(DRAIN_MS))
  const url = relay.settings.publicUrl
  const person = async (slug: string): Promise<Person> => {
    const email = `${slug}@example.org`
    const made = await operatorOf(relay).createPerson({
      email,
      displayName: slug,
      slug,
      isAdmin: false,
      keyName: 'test',
    })
    return new Person(url, made.api_key ?? '', made.id, made.account_id)
  }
  return { relay, url, person }
}

/** An empty one, for as long as the test runs. */
export async function newDatabase(): Promise<DatabaseLocation> {
  const server = inject('postgres') as string | undefined
  if (server === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'relay-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return { kind: 'file', path: join(folder, 'relay.db') }
  }
  const name = `t_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name} template template0`)
  onTestFinished(() => administer(server, `drop database ${name} with (force)`))
  const url = new URL(server)
  url.pathname = name
  return { kind: 'postgres', url: url.href }
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what the relay answers is what the test examines
  readonly body: any
}

/** One who asks with a credential. */
export class Person {
  readonly url: string
  readonly key: string
  readonly userId: string
  readonly accountId: string

  constructor(url: string, key: string, userId: string, accountId: string) {
    this.url = url
    this.key = key
    this.userId = userId
    this.accountId = accountId
  }

  get = (path: string): Promise<Answer> => this.ask('GET', path)
  post = (path: string, body: unknown = {}): Promise<Answer> => this.ask('POST', path, body)
  patch = (path: string, body: unknown): Promise<Answer> => this.ask('PATCH', path, body)
  delete = (path: string): Promise<Answer> => this.ask('DELETE', path)

  /** The same person by another key. */
  async withKey(more: Readonly<Record<string, unknown>>): Promise<Person> {
    const { status, body } = await this.post('/v1/api-keys', { name: 'other', ...more })
    if (status !== 201) throw new Error(`expected a key, found ${status} ${JSON.stringify(body)}`)
    return new Person(this.url, body.plaintext, this.userId, this.accountId)
  }

  ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return ask(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** An agent of this person's own account. @returns its id */
  async agent(slug: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const given = { account_id: this.accountId, slug, display_name: slug, visibility: 'network', ...more }
    const { status, body } = await this.post('/v1/agents', given)
    if (status !== 201) throw new Error(`expected an agent, found ${status} ${JSON.stringify(body)}`)
    return body.id
  }
}

/** Two agents of two people, of which the second may use a capability of the first. */
export async function befriended(
  person: TestRelay['person'],
  capability: Readonly<Record<string, unknown>> = {},
): Promise<{
  readonly bob: Person
  readonly eve: Person
  readonly server: string
  readonly caller: string
  readonly capabilityId: string
  readonly grantId: string
}> {
  const [bob, eve] = [await person('bob'), await person('eve')]
  const [server, caller] = [await bob.agent('venue-bot'), await eve.agent('planner')]
  const published = await bob.post(`/v1/agents/${server}/capabilities`, { name: 'check_availability', ...capability })
  const proposed = await eve.post('/v1/friendships', { proposer_agent_id: caller, target_agent_id: server })
  await bob.post(`/v1/friendships/${proposed.body.id}/accept`)
  const grant = { granter_agent_id: server, grantee_agent_id: caller, capability_id: published.body.id }
  const granted = await bob.post('/v1/grants', grant)
  if (granted.status !== 201) throw new Error(`expected a grant, found ${JSON.stringify(granted.body)}`)
  return { bob, eve, server, caller, capabilityId: published.body.id, grantId: granted.body.id }
}

/** The same person at a browser. */
export async function signIn(relay: Relay, { url, userId, accountId }: Person): Promise<Person> {
  const { plaintext, hash } = makeSecret('session')
  const now = relay.clock.now()
  await relay.database.sql
    .insertInto('sessions')
    .values({
      id: relay.ids(),
      user_id: userId,
      token_hash: hash,
      created_at: now,
      expires_at: now + 1e12,
      revoked_at: null,
    })
    .execute()
  return new Person(url, plaintext, userId, accountId)
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}
