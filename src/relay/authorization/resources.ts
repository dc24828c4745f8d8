/**
 * What a token may be asked for: the endpoints of MCP. One sign-in is good for all of them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8707
 * @see https://www.rfc-editor.org/rfc/rfc9728
 * @module
 */
import { type JsonObject } from '../../core/json.ts'
import { SCOPE } from './clients.ts'
import { OAuthError } from './oauth-error.ts'

const PATH = /^\/(?:mcp|mcp\/directory|agents\/[a-z0-9-]{1,64}\/[a-z0-9-]{1,64}\/mcp)?$/

/** @throws {OAuthError} `invalid_target` */
export function readResources(publicUrl: string, given: readonly string[]): string | null {
  for (const text of given) {
    const url = URL.parse(text)
    const path = url?.pathname.replace(/\/$/, '') ?? ''
    if (url === null || url.origin !== publicUrl || url.hash !== '' || !PATH.test(path === '' ? '/' : path)) {
      throw new OAuthError('invalid_target', 'resource: expected an endpoint of MCP of this relay')
    }
  }
  return given[0] ?? null
}

export function resourceMetadata(publicUrl: string, path: string): JsonObject {
  return {
    resource: `${publicUrl}${path}`,
    authorization_servers: [publicUrl],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
    resource_name: 'ct-agent relay',
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc8414 */
export function serverMetadata(publicUrl: string): JsonObject {
  return {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    token_endpoint: `${publicUrl}/oauth/token`,
    registration_endpoint: `${publicUrl}/oauth/register`,
    revocation_endpoint: `${publicUrl}/oauth/revoke`,
    device_authorization_endpoint: `${publicUrl}/oauth/device_authorization`,
    scopes_supported: [SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}
