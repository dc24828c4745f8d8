/**
 * Services by name. The last part of a tool's name is the slug; two services never share one.
 *
 * Holds: the four fixed kinds (`code_generation`, `security_review`, `safety_check`, `text_generation`) are their own
 * slugs; any other name is kept as it was written.
 *
 * @module
 */
export interface Service {
  /** As the operator wrote it; what an offer's catalog lists. */
  readonly name: string
  /** Lower-case ASCII letters, digits and `_`; the tool is `service/<slug>`. */
  readonly slug: string
}

/** Two different names with one slug. */
export interface SlugCollision {
  readonly slug: string
  readonly names: readonly [string, string]
}

/** Unicode lower case, then `_` for every character that is not an ASCII letter or digit. */
export function slugOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/gu, '_')
}

/** The services of a list of names, repetitions dropped, and the names of which only one could be called. */
export function readServices(names: readonly string[]): {
  readonly services: readonly Service[]
  readonly collisions: readonly SlugCollision[]
} {
  const bySlug = new Map<string, Service>()
  const collisions: SlugCollision[] = []
  for (const name of new Set(names)) {
    const slug = slugOf(name)
    const earlier = bySlug.get(slug)
    if (earlier === undefined) bySlug.set(slug, { name, slug })
    else collisions.push({ slug, names: [earlier.name, name] })
  }
  return { services: [...bySlug.values()], collisions }
}
