/**
 * The keys by which a serving agent is the operator of its channel: the first, by which the channel is known, the one
 * that signs today, and what leads from the one to the other.
 *
 * Holds: wherever a change of the key is cut off, what is in the state folder belongs together: it gives the old key, or
 * the new one with the succession to it. A change writes the new key beside the old one, then the succession, and only
 * then puts the new key in the place of the old one, which nobody needs any more and nobody keeps.
 *
 * @module
 */
import {
  decodeSuccession,
  encodeSuccession,
  MAX_SUCCESSIONS,
  operatorLine,
  type SignedSuccession,
  sealSuccession,
} from '../../channel/membership/index.ts'
import { fromHex, toHex } from '../../core/bytes.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { generateInstanceId, type HolderKey, holderKey, SecretKey } from '../../core/keys.ts'
import { readSecretFile, removeSecretFile, writeSecretFile } from '../../core/secret-file.ts'
import { saturatingAdd, type U64, type UnixSeconds } from '../../core/u64.ts'
import { findSecret, keepSecret, loadSecret, secretPath } from '../state.ts'

export interface Operator {
  /** Signs everything that is new. */
  readonly signer: HolderKey
  /** The channel goes by this key, whoever signs for it. */
  readonly first: HolderId
  /** From the first to the signer. */
  readonly successions: readonly SignedSuccession[]
}

/** The operator as it was when the keys were last looked at. */
export interface OperatorKeys {
  readonly current: () => Operator
  /** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
  readonly reload: () => void
}

const KEY = 'operator.key'
const NEXT_KEY = 'operator.next.key'
/** One succession a line, in hex, the oldest first. */
const SUCCESSIONS = 'operator.successions'
/** Another process may change the key between two files that are read. */
const MAX_READS = 3

export function watchOperator(stateDir: string): OperatorKeys {
  let known = loadOperator(stateDir)
  return {
    current: () => known,
    reload: () => {
      known = loadOperator(stateDir)
    },
  }
}

/** Its first key is made on first use. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function loadOperator(stateDir: string): Operator {
  for (let reads = 1; ; reads += 1) {
    const operator = readOperator(stateDir, holderKey(loadSecret(stateDir, KEY)))
    if (operator !== undefined) return operator
    if (reads === MAX_READS) throw unusable(stateDir, 'it does not lead to the key of the operator')
  }
}

/** The keys whose signatures count now, the newest first. */
export function standingKeys({ first, successions }: Operator, channel: ChannelId, now: UnixSeconds) {
  return operatorLine({ operator: first, channel, now }, successions).standing
}

export interface KeyChange {
  readonly channel: ChannelId
  readonly now: UnixSeconds
  /** So long what the old key signed still counts. */
  readonly overlapSeconds: U64
}

export interface ChangedKey {
  readonly succession: SignedSuccession
  /** The change was begun earlier, and cut off. */
  readonly wasBegun: boolean
}

/**
 * Makes a new key, or finishes a change that was cut off. Of several processes one at a time.
 *
 * @throws {CtError} `ERR_USAGE` without a key to change, or when it was changed too often; `ERR_STATE_UNAVAILABLE`
 */
export function changeOperator(stateDir: string, { channel, now, overlapSeconds }: KeyChange): ChangedKey {
  const kept = findSecret(stateDir, KEY)
  if (kept === undefined) {
    throw new CtError('ERR_USAGE', 'expected a state folder with which ct-agent serve --broker has run, found no key')
  }
  const { signer, successions } = loadOperator(stateDir)
  const begun = holderKey(kept).id === signer.id ? undefined : successions.at(-1)
  if (begun !== undefined) {
    finish(stateDir, signer.secret)
    return { succession: begun, wasBegun: true }
  }
  if (successions.length >= MAX_SUCCESSIONS) {
    const message = `expected at most ${MAX_SUCCESSIONS} changes of the key on one channel; begin a new one in another state folder`
    throw new CtError('ERR_USAGE', message)
  }
  const next = SecretKey.generate()
  const succession = sealSuccession({
    channel,
    kind: 'operator',
    issuedAt: now,
    overlapUntil: saturatingAdd(now, overlapSeconds),
    oldKey: signer.secret,
    newKey: next,
  })
  keepSecret(stateDir, NEXT_KEY, next)
  writeSuccessions(stateDir, [...successions, succession])
  finish(stateDir, next)
  return { succession, wasBegun: false }
}

function finish(stateDir: string, next: SecretKey): void {
  keepSecret(stateDir, KEY, next)
  removeSecretFile(secretPath(stateDir, NEXT_KEY))
}

/** Nothing when the files do not belong together. */
function readOperator(stateDir: string, kept: HolderKey): Operator | undefined {
  const successions = readSuccessions(stateDir)
  const [oldest, newest] = [successions[0]?.body, successions.at(-1)?.body]
  if (oldest === undefined || newest === undefined) return { signer: kept, first: kept.id, successions }
  const next = newest.from === kept.id ? findSecret(stateDir, NEXT_KEY) : undefined
  const signer = next === undefined ? kept : holderKey(next)
  return signer.id === newest.to ? { signer, first: oldest.from, successions } : undefined
}

function readSuccessions(stateDir: string): readonly SignedSuccession[] {
  const lines = (readSecretFile(`${stateDir}/${SUCCESSIONS}`) ?? '').split('\n').filter((line) => line !== '')
  try {
    return lines.map((line) => {
      const bytes = fromHex(line)
      if ('problem' in bytes) throw unusable(stateDir, bytes.problem)
      return decodeSuccession(bytes)
    })
  } catch (error) {
    throw isCtError(error, 'ERR_ARTEFACT_INVALID') ? unusable(stateDir, error.message) : error
  }
}

function writeSuccessions(stateDir: string, successions: readonly SignedSuccession[]): void {
  const lines = successions.map((succession) => `${toHex(encodeSuccession(succession))}\n`)
  writeSecretFile(`${stateDir}/${SUCCESSIONS}`, lines.join(''), generateInstanceId())
}

function unusable(stateDir: string, problem: string): CtError {
  const path = `${stateDir}/${SUCCESSIONS}`
  return new CtError('ERR_STATE_UNAVAILABLE', `cannot use ${path}: ${problem}`, { detail: { path } })
}
