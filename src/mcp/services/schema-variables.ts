/**
 * The variables that name the schema of a service: one for each service, after its slug.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'

/** The variable of a service; as documentation writes it, with `<SLUG>`. */
export function schemaVariable(slug: string): string {
  return `CT_AGENT_SERVICE_${slug.toUpperCase()}_SCHEMA`
}

/** True for the variable of some service. */
export function isSchemaVariable(name: string): boolean {
  return /^CT_AGENT_SERVICE_[A-Z0-9_]+_SCHEMA$/.test(name)
}

/** Those that are set. */
export function schemaVariablesIn(env: Env): readonly string[] {
  return Object.keys(env).filter((name) => isSchemaVariable(name) && (env[name] ?? '').trim() !== '')
}
