/**
 * The tools this agent serves, and the sessions it serves them on.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { type Session } from '../../channel/index.ts'
import { type Env } from '../../core/env.ts'
import { type CtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { VERSION } from '../../core/version.ts'
import { createCallLedger, createToolRegistry, pingTool, type ServedLink, serveMcp } from '../../mcp/index.ts'
import { createServices, randomReference, systemProcesses } from '../../mcp/services/index.ts'
import { type Io, notice } from '../io.ts'
import { openMarket } from './market.ts'
import { refuseEmptyPlan, type ServingPlan } from './serving-plan.ts'

export interface ServingDeps {
  readonly io: Io
  readonly env: Env
  readonly stateDir: string
  /** Who signs the card and the offer. */
  readonly holder: HolderKey
  readonly clock: Clock
  readonly log: Log
}

export interface Serving {
  /** Names as the peers see them. */
  readonly toolNames: readonly string[]
  /** Serves an admitted session until it ends. */
  readonly attach: (session: Session) => void
  /** Refuses new calls and lets those in progress finish, for at most `deadlineMs`. */
  readonly drain: (deadlineMs: number) => Promise<void>
  /** Ends every handler. */
  readonly close: () => Promise<void>
}

/** After the deadline: time for handlers to end on SIGTERM and for their callers to be told. */
const LAST_ANSWERS_MS = 3_000

/**
 * Says what the offer refuses, and makes the rest ready to be served.
 *
 * @throws {CtError} `ERR_CONFIG_INVALID` when nothing is left that was asked for, `ERR_STATE_UNAVAILABLE`
 */
export async function createServing(plan: ServingPlan, deps: ServingDeps): Promise<Serving> {
  const { services: config, refusal } = plan
  const { io, env, clock, log } = deps
  if (refusal !== undefined) notice(io, refusal)
  refuseEmptyPlan(plan)
  const market = await openMarket(plan, deps)
  const services =
    config === undefined
      ? undefined
      : createServices(config, env, { clock, log, host: systemProcesses, reference: randomReference })
  const registry = createToolRegistry([pingTool, ...market.tools, ...(services?.tools ?? []).map(market.noting)])
  const ledger = createCallLedger(clock)
  const links = new Map<ServedLink, Session>()
  return {
    toolNames: registry.list.map(({ name }) => name),
    attach: (session) => {
      const link = serveMcp(session, {
        registry,
        methods: market.methods,
        ledger,
        log,
        serverInfo: { name: 'ct-agent', version: VERSION },
        randomId: randomUUID,
        rights: session.peer.membership?.rights,
      })
      links.set(link, session)
      log.info('session.opened', { peer: shortId(session.peer.holder) })
      void session.closed.then(({ reason }) => {
        links.delete(link)
        logEnd(log, session, reason)
      })
    },
    drain: async (deadlineMs) => {
      const signal = AbortSignal.timeout(deadlineMs + LAST_ANSWERS_MS)
      await Promise.all([
        services?.drain(deadlineMs),
        ...[...links].map(async ([link, session]) => {
          await link.drain(signal)
          await session.flushed(signal)
        }),
      ])
    },
    close: async () => {
      for (const link of links.keys()) link.close()
      await services?.close()
      market.close()
    },
  }
}

function logEnd(log: Log, session: Session, reason: CtError): void {
  log.info('session.ended', { peer: shortId(session.peer.holder), code: reason.code, reason: reason.message })
}
