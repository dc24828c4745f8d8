/**
 * The ceiling of a signed offer: what it does not declare is not served.
 *
 * Holds: a service is compared by its declared name and kind, never by its slug alone, so that another service with the
 * same slug cannot pass for it.
 *
 * @module
 */
import { type Service } from '../../mcp/services/index.ts'
import { describeService, isSameService, type ServiceKind, serviceKindOf } from '../../offers/index.ts'

export interface UnderCeiling {
  readonly allowed: readonly Service[]
  readonly refused: readonly Service[]
}

export function applyCeiling(requested: readonly Service[], catalog: readonly ServiceKind[]): UnderCeiling {
  const isDeclared = ({ name }: Service): boolean => {
    const kind = serviceKindOf(name)
    return catalog.some((declared) => isSameService(declared, kind))
  }
  return {
    allowed: requested.filter(isDeclared),
    refused: requested.filter((service) => !isDeclared(service)),
  }
}

/** Whether the offer declares what a tool of that name does; a tool is compared by its name alone. */
export function allowedUnder(catalog: readonly ServiceKind[]): (tool: string) => boolean {
  return (tool) => catalog.some((declared) => isSameService(declared, serviceKindOf(tool)))
}

/** The line that operators of the original know, to the byte. */
export function refusalLine(refused: readonly Service[]): string {
  const kinds = refused.map(({ name }) => describeService(serviceKindOf(name)))
  return `ct-agent channel: REFUSING ${refused.length} service tool(s) not in the signed offer's declared catalog (#167): [${kinds.join(', ')}]`
}
