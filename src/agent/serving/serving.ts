/**
 * The tools this agent serves, and the sessions it serves them on.
 *
 * @module
 */
import { type Session } from '../../channel/index.ts'
import { type Env, quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { createToolRegistry, pingTool, type Tool } from '../../mcp/index.ts'
import {
  createServices,
  randomReference,
  type ServiceDeps,
  type Services,
  systemProcesses,
} from '../../mcp/services/index.ts'
import { readSettingFile } from '../input.ts'
import { type Io, notice } from '../io.ts'
import { type Reception } from '../members/reception.ts'
import { type Observing } from '../observing/observing.ts'
import { ceilingOf } from './ceiling.ts'
import { openMarket } from './market.ts'
import { openUpstream } from './served-server.ts'
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
  /** Tools of the program that serves; a signed offer is their ceiling too. */
  readonly ownTools?: readonly Tool[] | undefined
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
 * @throws {CtError} `ERR_CONFIG_INVALID` when nothing is left that was asked for, or the handler cannot be run as it was;
 * `ERR_STATE_UNAVAILABLE`
 */
export async function createServing(plan: ServingPlan, deps: ServingDeps): Promise<Serving> {
  const { services: config, refusal } = plan
  const { io, env, clock, log } = deps
  if (refusal !== undefined) notice(io, refusal)
  refuseEmptyPlan(plan)
  const services = config === undefined ? undefined : await createServices(config, env, servicesOn({ clock, log }))
  try {
    return await assemble(plan, deps, services)
  } catch (error) {
    await services?.close()
    throw error
  }
}

function servicesOn({ clock, log }: Pick<ServingDeps, 'clock' | 'log'>): ServiceDeps {
  const { platform } = process
  const readText = readSettingFile
  return { clock, log, host: systemProcesses, platform, random: Math.random, reference: randomReference, readText }
}

async function assemble(plan: ServingPlan, deps: ServingDeps, services: Services | undefined): Promise<Serving> {
  const { clock, log, reception, observing } = deps
  const market = await openMarket(plan, deps)
  const own = [...(services?.tools ?? []), ...ownToolsUnder(plan, deps)]
  const registry = createToolRegistry([pingTool, ...market.tools, ...own.map(market.noting)])
  const upstream = await openUpstream(plan, deps)
  const sessions = new ServedSessions({ registry, upstream, methods: market.methods, clock, log, reception, observing })
  return {
    toolNames: [...registry.list.map(({ name }) => name), ...(upstream?.toolNames ?? [])],
    attach: (session) => sessions.attach(session),
    review: () => sessions.review(),
    drain: async (deadlineMs) => {
      const signal = AbortSignal.timeout(deadlineMs + LAST_ANSWERS_MS)
      await Promise.all([services?.drain(deadlineMs), sessions.drain(signal)])
    },
    close: async () => {
      sessions.close()
      await Promise.all([services?.close(), upstream?.close()])
      market.close()
    },
  }
}

/** @throws {CtError} `ERR_CONFIG_INVALID` for one that the offer does not declare: the program that brings it is to know */
function ownToolsUnder({ offer }: ServingPlan, { ownTools = [] }: ServingDeps): readonly Tool[] {
  const allows = ceilingOf(offer)
  const refused = ownTools.find(({ name }) => allows?.(name) === false)
  if (refused === undefined) return ownTools
  throw new CtError('ERR_CONFIG_INVALID', `the signed offer does not declare the tool ${quote(refused.name)}`)
}
