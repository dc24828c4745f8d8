/**
 * The tools this agent serves, and the sessions it serves them on.
 *
 * @module
 */
import { type Session } from '../../channel/index.ts'
import { type Env } from '../../core/env.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { createToolRegistry, pingTool } from '../../mcp/index.ts'
import { createServices, randomReference, systemProcesses } from '../../mcp/services/index.ts'
import { type Io, notice } from '../io.ts'
import { type Reception } from '../members/reception.ts'
import { type Observing } from '../observing/observing.ts'
import { openMarket } from './market.ts'
import { ServedSessions } from './served-sessions.ts'
import { refuseEmptyPlan, type ServingPlan } from './serving-plan.ts'

export interface ServingDeps {
  readonly io: Io
  readonly env: Env
  readonly stateDir: string
  /** Who signs the card and the offer. */
  readonly holder: HolderKey
  readonly clock: Clock
  readonly log: Log
  /** Knows as what members of a channel come; without it each may do what its grant says. */
  readonly reception?: Reception | undefined
  readonly observing?: Observing | undefined
}

export interface Serving {
  /** Names as the peers see them. */
  readonly toolNames: readonly string[]
  /** Serves an admitted session until it ends. */
  readonly attach: (session: Session) => void
  /** Ends the sessions and calls of who was removed meanwhile, and limits the others to what they may do now. */
  readonly review: () => void
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
  const { io, env, clock, log, reception, observing } = deps
  if (refusal !== undefined) notice(io, refusal)
  refuseEmptyPlan(plan)
  const market = await openMarket(plan, deps)
  const services =
    config === undefined
      ? undefined
      : createServices(config, env, { clock, log, host: systemProcesses, reference: randomReference })
  const registry = createToolRegistry([pingTool, ...market.tools, ...(services?.tools ?? []).map(market.noting)])
  const sessions = new ServedSessions({ registry, methods: market.methods, clock, log, reception, observing })
  return {
    toolNames: registry.list.map(({ name }) => name),
    attach: (session) => sessions.attach(session),
    review: () => sessions.review(),
    drain: async (deadlineMs) => {
      const signal = AbortSignal.timeout(deadlineMs + LAST_ANSWERS_MS)
      await Promise.all([services?.drain(deadlineMs), sessions.drain(signal)])
    },
    close: async () => {
      sessions.close()
      await services?.close()
      market.close()
    },
  }
}
