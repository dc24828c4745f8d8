/**
 * What a handler learns of its call from its environment.
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

/** @param base from `withoutAgentVariables` */
export function handlerEnvironment(base: Env, { service, callId, peer }: HandlerFacts): Env {
  return { ...base, CT_SERVICE_TYPE: service, CT_CALL_ID: callId, CT_PEER_HOLDER: peer }
}
