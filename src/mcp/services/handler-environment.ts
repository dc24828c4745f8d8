/**
 * What a handler may see of the agent's environment.
 *
 * Holds: no `CT_*` variable of the agent reaches a handler, so its keys, grants and tokens cannot, whether or not
 * this version knows their names. Everything else passes: handlers need `PATH`, `HOME` and their own credentials.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'

export interface HandlerFacts {
  /** Slug of the service that was called. */
  readonly service: string
  readonly callId: string
  /** Holder key of the caller. */
  readonly peer: string
}

const OWN_PREFIX = 'CT_'

/** The agent's environment without what is the agent's own. */
export function withoutAgentVariables(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith(OWN_PREFIX)))
}

/** @param base from `withoutAgentVariables` */
export function handlerEnvironment(base: Env, { service, callId, peer }: HandlerFacts): Env {
  return { ...base, CT_SERVICE_TYPE: service, CT_CALL_ID: callId, CT_PEER_HOLDER: peer }
}
