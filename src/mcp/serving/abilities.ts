/**
 * What a server may ask of a peer: what the peer declared, and the operator allows.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'

/** What must be declared for which request. */
const ABILITY_FOR: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
}
/** Larger than any of what the revisions have there. */
const MAX_CHARS = 512

/** Roots are folders of the peer's machine, which some servers open on this one: only where the operator says so. */
export function abilitiesOf(declared: JsonObject | undefined, { roots }: { readonly roots: boolean }): JsonObject {
  const kept = ['elicitation', ...(roots ? ['roots'] : []), 'sampling'].flatMap((name) => {
    const ability = declared?.[name]
    if (!isJsonObject(ability)) return []
    // Kept as declared: revisions differ in what they have within.
    return JSON.stringify(ability).length <= MAX_CHARS ? [[name, ability] as const] : []
  })
  return Object.fromEntries(kept)
}

/** What the request needs; nothing when it is none that peers are asked. */
export function abilityFor(method: string): string | undefined {
  return Object.hasOwn(ABILITY_FOR, method) ? ABILITY_FOR[method] : undefined
}
