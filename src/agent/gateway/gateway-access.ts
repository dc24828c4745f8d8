/**
 * Who may use the gateway, as the settings say.
 *
 * @module
 */
import { type EnvProblem, type EnvValues, missing } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type AccessRules, LOOPBACK_HOSTS } from '../../mcp/http/index.ts'
import { readSettingFile } from '../input.ts'
import { GATEWAY_ENV, isLoopback, parseToken } from './gateway-settings.ts'

/** Without what has problems. */
type GatewayValues = Partial<EnvValues<typeof GATEWAY_ENV>>

/** Each is compared with what every request brings. */
const MAX_TOKENS = 64

/** @throws {CtError} `ERR_USAGE` when the file of tokens cannot be read, `ERR_CONFIG_INVALID` for what it has */
export function accessRules(
  { address, token, tokenFile, origins = [], hosts = [] }: GatewayValues,
  problems: EnvProblem[],
): AccessRules {
  const tokens = [...(token === undefined ? [] : [token]), ...(tokenFile === undefined ? [] : tokensIn(tokenFile))]
  const isLocal = address === undefined || isLoopback(address)
  // Where it was given and is no good, that is the problem.
  const isMissing = tokens.length === 0 && !problems.some(({ name }) => name === GATEWAY_ENV.token.name)
  if (!isLocal && isMissing) {
    const { name, message } = missing(GATEWAY_ENV.token)
    problems.push({ name, message: `${message}, since others than this machine reach ${address.host}` })
  }
  return {
    hosts: new Set([...LOOPBACK_HOSTS, ...(address === undefined ? [] : [address.host.toLowerCase()]), ...hosts]),
    anyAddress: !isLocal,
    origins: new Set(origins),
    tokens,
  }
}

function tokensIn(path: string): readonly string[] {
  const lines = readSettingFile(path).split(/\r?\n/)
  const tokens = lines.flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const parsed = parseToken(line)
    if ('value' in parsed) return [parsed.value]
    throw new CtError('ERR_CONFIG_INVALID', `${GATEWAY_ENV.tokenFile.name}, line ${index + 1}: ${parsed.problem}`)
  })
  if (tokens.length > 0 && tokens.length <= MAX_TOKENS) return tokens
  const message = `${GATEWAY_ENV.tokenFile.name}: expected 1 to ${MAX_TOKENS} lines, found ${tokens.length}`
  throw new CtError('ERR_CONFIG_INVALID', message)
}
