/**
 * What an agent keeps between runs: its keys, the secret of its ticket, and the channel that its ticket leads to.
 *
 * @module
 */
import { toHex } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'
import { type ChannelId, KEY_BYTES, parseHexBytes } from '../core/ids.ts'
import { generateInstanceId, SecretKey } from '../core/keys.ts'
import { createSecretFile, readSecretFile, refuseOpenFolder, writeSecretFile } from '../core/secret-file.ts'

export type SecretName =
  | 'holder.key'
  | 'caller.key'
  | 'noise.key'
  | 'ticket.secret'
  | 'broker.key'
  | 'operator.key'
  | 'operator.next.key'
  | 'channel.id'

/**
 * The secret of this name, made and kept on first use. Two processes that start at once get the same one.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function loadSecret(stateDir: string, name: SecretName): SecretKey {
  const path = secretPath(stateDir, name)
  return secretIn(path, readSecretFile(path) ?? createSecret(path))
}

/** The secret of this name, if there is one. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function findSecret(stateDir: string, name: SecretName): SecretKey | undefined {
  const path = secretPath(stateDir, name)
  const text = readSecretFile(path)
  return text === undefined ? undefined : secretIn(path, text)
}

export function secretPath(stateDir: string, name: SecretName): string {
  return `${stateDir}/${name}`
}

function secretIn(path: string, text: string): SecretKey {
  const bytes = parseHexBytes(text, KEY_BYTES)
  if ('problem' in bytes) {
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot use ${path}: ${bytes.problem}`, {
      detail: { path },
    })
  }
  return new SecretKey(bytes.value)
}

/** The channel of which this agent is the operator; no secret, and kept like one. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function loadChannel(stateDir: string): ChannelId {
  return toHex(loadSecret(stateDir, 'channel.id').reveal()) as ChannelId
}

/** Makes another secret of this name in place of the one that is kept. */
export function renewSecret(stateDir: string, name: SecretName): SecretKey {
  const secret = SecretKey.generate()
  keepSecret(stateDir, name, secret)
  return secret
}

/** Keeps this secret under that name, in place of the one that is kept. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function keepSecret(stateDir: string, name: SecretName, secret: SecretKey): void {
  refuseOpenFolder(stateDir)
  writeSecretFile(secretPath(stateDir, name), `${toHex(secret.reveal())}\n`, generateInstanceId())
}

function createSecret(path: string): string {
  const secret = SecretKey.generate()
  return createSecretFile(path, `${toHex(secret.reveal())}\n`, generateInstanceId())
}
