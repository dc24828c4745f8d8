/**
 * What the settings ask to serve.
 *
 * @module
 */
import { type CardConfig, readCardConfig } from '../../cards/index.ts'
import { type Env, type EnvProblem, quote, readEnv } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { readServiceConfig, type ServiceConfig } from '../../mcp/services/index.ts'
import { readUpstreamConfig, type UpstreamConfig } from '../../mcp/upstream/config.ts'
import { OFFER_ENV, type OfferConfig, readOfferConfig } from '../../offers/index.ts'
import { refuseAmbiguous } from '../artefacts/declared-services.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { applyCeiling, refusalLine } from './ceiling.ts'

export interface ServingPlan {
  /** Without what the offer does not allow. */
  readonly services: ServiceConfig | undefined
  readonly card: CardConfig | undefined
  readonly offer: OfferConfig | undefined
  /** An MCP server that is served beside. */
  readonly upstream?: UpstreamConfig | undefined
  readonly skewSeconds: number
  /** A line to print as it is, when services were refused. */
  readonly refusal: string | undefined
  /** Sentences for the operator at start-up. */
  readonly notices: readonly string[]
}

/** What the settings ask to serve; what is wrong with them is appended to the problems. */
export function planServing(env: Env, problems: EnvProblem[]): ServingPlan {
  const card = readCardConfig(env, problems)
  const offer = readOfferConfig(env, problems)
  const { skewSeconds } = readEnv(VERIFY_ENV, env, problems)
  const isClear = offer === undefined || !refuseAmbiguous(offer, problems)
  // What is wrong with the offer's list must not be said again of a list that nobody wrote.
  const services = readServiceConfig(env, problems, isClear ? offer?.serviceNames : [])
  const upstream = readUpstreamConfig(env, problems)
  const plan = { services, card, offer, upstream, skewSeconds, refusal: undefined, notices: services?.notices ?? [] }
  return offer === undefined ? plan : underOffer(plan, offer)
}

/** True when the plan has something that the holder must sign, so that the holder's key must last. */
export function signs({ card, offer }: ServingPlan): boolean {
  return card !== undefined || offer !== undefined
}

/**
 * Refuses to serve when of all services that were asked for none is left.
 *
 * @throws {CtError} `ERR_CONFIG_INVALID`
 */
export function refuseEmptyPlan({ services, offer, refusal, upstream }: ServingPlan): void {
  if (refusal === undefined || (services !== undefined && services.services.length > 0) || upstream !== undefined)
    return
  const declared =
    offer !== undefined && offer.serviceNames.length > 0
      ? `declares ${offer.serviceNames.map(quote).join(', ')}`
      : `declares no service (${OFFER_ENV.services.name} is not set)`
  throw new CtError(
    'ERR_CONFIG_INVALID',
    `no service is left to serve: the signed offer ${declared}; declare there what is to be served, or serve without the offer`,
  )
}

function underOffer(plan: ServingPlan, offer: OfferConfig): ServingPlan {
  const { services } = plan
  const { allowed, refused } = applyCeiling(services?.services ?? [], offer.terms.services)
  const unserved = offer.serviceNames.filter((name) => !allowed.some((service) => service.name === name))
  return {
    ...plan,
    services: services === undefined ? undefined : { ...services, services: allowed },
    refusal: refused.length === 0 ? undefined : refusalLine(refused),
    notices: [
      ...plan.notices,
      ...(unserved.length === 0
        ? []
        : [`the offer declares services that are not served: ${unserved.map(quote).join(', ')}`]),
    ],
  }
}
