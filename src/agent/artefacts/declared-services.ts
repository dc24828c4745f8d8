/**
 * The services that an offer declares, as a buyer sees them.
 *
 * @module
 */
import { type EnvProblem, invalid, quote } from '../../core/env.ts'
import { readServices } from '../../mcp/services/index.ts'
import { OFFER_ENV, type OfferConfig } from '../../offers/index.ts'

/** A buyer sees slugs: of two declared names with one slug it could not tell which one is served. True if there are. */
export function refuseAmbiguous({ serviceNames }: OfferConfig, problems: EnvProblem[]): boolean {
  const { collisions } = readServices(serviceNames)
  for (const { slug, names } of collisions) {
    const both = `${quote(names[0])} and ${quote(names[1])}`
    problems.push(invalid(OFFER_ENV.services, `${both} are both service/${slug}; rename one`))
  }
  return collisions.length > 0
}
