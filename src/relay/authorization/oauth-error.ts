/**
 * What an endpoint of OAuth refuses with: always JSON, in the standard's own flat shape.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 * @module
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  /** The one that clients wait for instead of beginning anew. */
  | 'temporarily_unavailable'

export class OAuthError extends Error {
  readonly code: OAuthErrorCode
  readonly status: 400 | 401 | 413 | 429 | 503
  readonly retryAfterSecs: number | undefined

  /** @param message for whoever writes a client */
  constructor(code: OAuthErrorCode, message: string, status: OAuthError['status'] = 400, retryAfterSecs?: number) {
    super(message)
    this.code = code
    this.status = status
    this.retryAfterSecs = retryAfterSecs
  }

  override get name(): string {
    return 'OAuthError'
  }
}
