/**
 * Why the relay does not do what it was asked: the code that programs act on, and the status of HTTP.
 *
 * Holds: every refusal that leaves the relay is one of these; what else goes wrong inside is `internal_error` and says no
 * more.
 *
 * @module
 */

/** Status of HTTP, and whether the same request may work later. */
interface RefusalFacts {
  readonly status: 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 503
  readonly retryable: boolean
  readonly about: string
}

const once = (status: RefusalFacts['status'], about: string): RefusalFacts => ({ status, retryable: false, about })
const later = (status: RefusalFacts['status'], about: string): RefusalFacts => ({ status, retryable: true, about })

export const REFUSALS = {
  invalid_request: once(400, 'The request is not as it should be; the message says where'),
  unauthorized: once(401, 'A credential is missing, unknown, expired or revoked'),
  forbidden: once(403, 'The credential may not do this'),
  not_found: once(404, 'There is no such thing, or it is not for you to know of'),
  conflict: once(409, 'It exists already, or is not in a state that allows this'),
  payload_too_large: once(413, 'The request is larger than the relay takes'),
  'chk.policy.grant_required': once(403, 'Neither a grant nor a public capability lets your agent do this'),
  'chk.policy.grant_revoked': once(409, 'The grant was revoked'),
  'chk.policy.grant_expired': once(409, 'The time of the grant is over'),
  'chk.policy.friendship_required': once(403, 'The two agents are not friends, or no longer'),
  'chk.policy.consent_denied': once(403, 'An approver of the other agent said no'),
  'chk.policy.consent_expired': once(403, 'No approver of the other agent decided in time'),
  'chk.mcp.as_required': once(409, 'The credential is for several agents: name the one to call as'),
  'chk.mcp.push_agent': once(409, 'The agent is reached at an address of its own'),
  signup_disabled: once(403, 'The relay takes no new people by itself'),
  signin_rate_limited: later(429, 'Too many sign-ins for this address failed'),
  lease_expired: once(409, 'Somebody else may have the work by now: pull the inbox again'),
  monthly_quota_exhausted: once(
    429,
    'Your agent has used a public capability as often as its owner lets it within a month',
  ),
  directory_rate_limited: later(429, 'This address has asked the directory too often within a minute'),
  account_rate_limited: later(429, 'The account has invoked too often within a minute'),
  account_credits_exhausted: once(429, 'The account has no credits left'),
  internal_error: once(500, 'Something went wrong here; it was logged'),
  unavailable: later(503, 'The database does not answer'),
} as const satisfies Readonly<Record<string, RefusalFacts>>

export type RefusalCode = keyof typeof REFUSALS

interface RefusalOptions {
  /** Said beside code and message, such as `retry_after_secs`. */
  readonly detail?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export class Refusal extends Error {
  readonly code: RefusalCode
  readonly detail: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  /** @param message in lower case without a full stop, for a reader who is to mend it */
  constructor(code: RefusalCode, message: string, { detail = {}, headers = {} }: RefusalOptions = {}) {
    super(message)
    this.code = code
    this.detail = detail
    this.headers = headers
  }

  override get name(): string {
    return 'Refusal'
  }

  get facts(): RefusalFacts {
    return REFUSALS[this.code]
  }

  /** What a client of the API gets. */
  get body(): Readonly<Record<string, unknown>> {
    return { error: { code: this.code, message: this.message, retryable: this.facts.retryable, ...this.detail } }
  }
}

/** The same for what does not exist and what is hidden. */
export function notFound(what: string): Refusal {
  return new Refusal('not_found', `expected ${what} that is there and visible to you, found none`)
}
