/**
 * Registers an agent card at a control plane.
 *
 * @module
 */
import { type AgentCard } from '../../cards/index.ts'
import { type EnvValues } from '../../core/env.ts'
import { CtError, type ErrorCode } from '../../core/errors.ts'
import { type REGISTRATION_ENV } from './registration-settings.ts'

const REGISTER_TIMEOUT_MS = 10_000

export interface Registration {
  readonly controlPlane: string
  readonly adminToken: string
  /** Where the card will be found. */
  readonly cardUrl: string
}

/** All that a registration takes, or nothing. */
export function registrationOf(
  { controlPlane, adminToken }: EnvValues<typeof REGISTRATION_ENV>,
  cardUrl: string | undefined,
): Registration | undefined {
  if (controlPlane === undefined || adminToken === undefined || cardUrl === undefined) return undefined
  return { controlPlane, adminToken, cardUrl }
}

/** Where agents are registered. */
export function registryOf({ controlPlane }: Registration): string {
  return `${controlPlane}/registry/agents`
}

/** @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_TIMEOUT`, `ERR_PEER_REFUSED`; never with the token in it */
export async function register(registration: Registration, { holder, roleTags, skills }: AgentCard): Promise<void> {
  const registry = registryOf(registration)
  const body = {
    holder_pubkey: holder,
    card_url: registration.cardUrl,
    role_tags: roleTags,
    skill_ids: skills.map(({ id }) => id),
  }
  let status: number
  try {
    const response = await fetch(registry, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-ct-admin-token': registration.adminToken },
      body: JSON.stringify(body),
      // A redirect could lead the token elsewhere.
      redirect: 'manual',
      signal: AbortSignal.timeout(REGISTER_TIMEOUT_MS),
    })
    status = response.status
    await response.body?.cancel()
  } catch (error) {
    throw unreachable(registry, error)
  }
  if (status < 200 || status > 299) {
    throw new CtError('ERR_PEER_REFUSED', `control-plane returned status ${status} for ${registry}`, {
      detail: { status },
    })
  }
}

// The words of other libraries may repeat what they were given: only the code of a failure is shown.
function unreachable(registry: string, error: unknown): CtError {
  const timedOut = error instanceof Error && error.name === 'TimeoutError'
  const code: ErrorCode = timedOut ? 'ERR_TIMEOUT' : 'ERR_PEER_UNREACHABLE'
  const problem = timedOut ? `no answer within ${REGISTER_TIMEOUT_MS} ms` : failureCode(error)
  return new CtError(code, `cannot register at ${registry}: ${problem}`)
}

function failureCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'no connection'
}
