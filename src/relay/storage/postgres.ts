/**
 * PostgreSQL: connections for queries, and one that hears what other relays tell.
 *
 * @module
 */
import { PostgresDialect } from 'kysely'
import pg from 'pg'
import { Backoff, pause } from '../../core/time.ts'
import { type Bell } from './wakes.ts'
import { type WithClock } from './with-clock.ts'

const MAX_CONNECTIONS = 16
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 20_000
const IDLE_MS = 30_000
const CHANNEL = 'ct_agent_relay'
const LISTENING = { baseMs: 200, capMs: 5_000, stableMs: 30_000 }

/** OID of `bigint`, and of `numeric`, which sums are. */
const BIGINT = 20
const NUMERIC = 1_700

/** Times and counts are far from 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format as 'text'),
}

export interface Postgres {
  readonly dialect: PostgresDialect
  readonly bell: Bell
}

export function openPostgres(url: string, { clock, log }: WithClock): Postgres {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    types,
  })
  // An idle connection that the server closed is replaced at the next query.
  pool.on('error', (error) => log.warn('relay.database-lost', { reason: error.message }))
  return {
    dialect: new PostgresDialect({ pool }),
    bell: {
      ring: async (topic) => {
        await pool.query('select pg_notify($1, $2)', [CHANNEL, topic])
      },
      hear: (heard) => {
        const stop = new AbortController()
        const done = listen(url, heard, { clock, log }, stop.signal)
        return async () => {
          stop.abort()
          await done
        }
      },
    },
  }
}

/** Until `signal` aborts. After each new connection everybody is woken: what was told meanwhile was not heard. */
async function listen(
  url: string,
  heard: (topic: string | undefined) => void,
  { clock, log }: WithClock,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(LISTENING, Math.random)
  while (!signal.aborted) {
    const began = clock.monotonic()
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    })
    const ended = Promise.withResolvers<void>()
    const leave = (): void => ended.resolve()
    client.once('end', leave)
    client.on('error', leave)
    signal.addEventListener('abort', leave)
    try {
      client.on('notification', ({ payload }) => heard(payload))
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      heard(undefined)
      await ended.promise
    } catch (error) {
      log.warn('relay.database-lost', { reason: error instanceof Error ? error.message : String(error) })
    } finally {
      signal.removeEventListener('abort', leave)
      await client.end().catch(() => {})
    }
    if (!signal.aborted) await pause(clock, backoff.next(clock.monotonic() - began), signal)
  }
}

/** Codes of SQLSTATE, or their classes: the server is away, is going away or has no room. */
const AWAY = /^(?:08...|57P0[123]|53[0-9A-Z]{3}|57014)$/
const CONNECTION_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'ENOTFOUND',
])

/** True when the same request may be answered once the server is back. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error)
  if (typeof code === 'string') return AWAY.test(code) || CONNECTION_CODES.has(code)
  return (
    error instanceof Error && /^(?:timeout exceeded|Connection terminated|Client has encountered)/.test(error.message)
  )
}

/** Others came between: they changed what was read, hold what is wanted, or made the same row first. */
const OVERTAKEN: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505'])

/** True when a transaction has to be tried again. */
export function isOvertaken(error: unknown): boolean {
  return OVERTAKEN.has(codeOf(error))
}

/** What PostgreSQL says of a text with NUL. */
const UNTRANSLATABLE = '22021'

/** True when a text that was sent cannot be kept. */
export function isUnfitText(error: unknown): boolean {
  return codeOf(error) === UNTRANSLATABLE
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
