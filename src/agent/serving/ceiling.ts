/**
 * The ceiling of a signed offer: what it does not declare is not served.
 *
 * Holds: a service is compared by its declared name and kind, never by its slug alone, so that another service with the
 * same slug cannot pass for it.
 *
 * @module
 */
import { type Service } from '../../mcp/services/index.ts'
import {
  describeService,
  isSameService,
  type OfferConfig,
  type ServiceKind,
  serviceKindOf,
} from '../../offers/index.ts'

export interface UnderCeiling {
  readonly allowed: readonly Service[]
  readonly refused: readonly Service[]
}

export function applyCeiling(requested: readonly Service[], catalog: readonly ServiceKind[]): UnderCeiling {
  const allows = allowedUnder(catalog)
  const isDeclared = ({ name }: Service): boolean => allows(name)
  return {
    allowed: requested.filter(isDeclared),
    refused: requested.filter((service) => !isDeclared(service)),
  }
}

/** Whether a tool of that name may be served; nothing where everything may be, since there is no offer. */
export function ceilingOf(offer: OfferConfig | undefined): ((tool: string) => boolean) | undefined {
  return offer === undefined ? undefined : allowedUnder(offer.terms.services)
}

/** Whether the catalog declares what has that name. */
function allowedUnder(catalog: readonly ServiceKind[]): (name: string) => boolean {
  return (name) => {
    const kind = serviceKindOf(name)
    return catalog.some((declared) => isSameService(declared, kind))
  }
}

/** The line that operators of the original know, to the byte. */
export function refusalLine(refused: readonly Service[]): string {
  const kinds = refused.map(({ name }) => describeService(serviceKindOf(name)))
  return `ct-agent channel: REFUSING ${refused.length} service tool(s) not in the signed offer's declared catalog (#167): [${kinds.join(', ')}]`
}
