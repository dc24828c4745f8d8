/**
 * What a client asks a person for, by way of the browser.
 *
 * Holds: the browser is sent nowhere that the client did not register.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1
 * @see https://www.rfc-editor.org/rfc/rfc7636
 * @module
 */
import { type AgentScope } from '../storage/identity-rows.ts'
import { type Client, SCOPE } from './clients.ts'
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts'
import { matchesRedirectUri } from './redirect-uris.ts'
import { readResources } from './resources.ts'

export interface AuthorizationRequest {
  readonly client: Client
  readonly redirectUri: string
  readonly state: string | undefined
  readonly codeChallenge: string
  readonly resource: string | null
  /** What the client proposes; the person decides. */
  readonly agentScope: AgentScope
  readonly agentIds: readonly string[]
}

export type ReadRequest =
  | { readonly kind: 'good'; readonly request: AuthorizationRequest }
  /** For the client to hear of, at an address of its own. */
  | { readonly kind: 'refused'; readonly location: string }
  /** For the person to read: there is no address to be trusted. */
  | { readonly kind: 'unfit'; readonly message: string }

const MAX_STATE_CHARS = 2_000
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

export async function readAuthorizationRequest(
  publicUrl: string,
  given: URLSearchParams,
  findClient: (clientId: string) => Promise<Client | undefined>,
): Promise<ReadRequest> {
  const once = (name: string): string | undefined => {
    const values = given.getAll(name)
    return values.length === 1 && values[0] !== '' ? values[0] : undefined
  }
  const client = await findClient(once('client_id') ?? '')
  if (client === undefined)
    return { kind: 'unfit', message: 'The program that sent you here is not known to this relay.' }
  const redirectUri = once('redirect_uri')
  if (redirectUri === undefined || !matchesRedirectUri(client.redirectUris, redirectUri)) {
    return { kind: 'unfit', message: 'The program that sent you here named an address that it did not register.' }
  }
  const state = once('state')
  const refuse = (code: OAuthErrorCode, message: string): ReadRequest => ({
    kind: 'refused',
    location: answerLocation(publicUrl, { redirectUri, state }, { error: code, error_description: message }),
  })
  for (const name of new Set(given.keys())) {
    if (name !== 'resource' && given.getAll(name).length > 1)
      return refuse('invalid_request', `${name}: expected it once`)
  }
  if ((state?.length ?? 0) > MAX_STATE_CHARS) return refuse('invalid_request', 'state: expected a shorter one')
  if (once('response_type') !== 'code') return refuse('unsupported_response_type', 'response_type: expected code')
  if (once('code_challenge_method') !== 'S256') return refuse('invalid_request', 'code_challenge_method: expected S256')
  const codeChallenge = once('code_challenge')
  if (codeChallenge === undefined || !CHALLENGE.test(codeChallenge)) {
    return refuse('invalid_request', 'code_challenge: expected 43 characters of Base64url')
  }
  const scope = once('scope')
  if (scope !== undefined && !scope.split(' ').includes(SCOPE))
    return refuse('invalid_scope', `scope: expected ${SCOPE}`)
  try {
    const resource = readResources(publicUrl, given.getAll('resource'))
    const hinted = once('agent_scope')
    return {
      kind: 'good',
      request: {
        client,
        redirectUri,
        state,
        codeChallenge,
        resource,
        agentScope: hinted === 'own' || hinted === 'selected' ? hinted : 'all',
        agentIds: (once('agent_ids') ?? '').split(',').filter((id) => id !== ''),
      },
    }
  } catch (error) {
    if (error instanceof OAuthError) return refuse(error.code, error.message)
    throw error
  }
}

/** Where the browser goes with the answer; it says who answers, so that answers of others are not taken for it. */
export function answerLocation(
  publicUrl: string,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries({
    ...answer,
    ...(state === undefined ? {} : { state }),
    iss: publicUrl,
  })) {
    url.searchParams.set(name, value)
  }
  return url.href
}
