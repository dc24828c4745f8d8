/**
 * The file in which a revocation list is kept: its bytes in hex on the first line, and on each further one a succession
 * of the operator's key.
 *
 * Holds: it is no secret, and its signature speaks for it, so who may read or write the file does not matter. A list in
 * it gives way to newer ones alone.
 *
 * @module
 */
import { readFileSync, statSync, watchFile } from 'node:fs'
import {
  decodeRevocations,
  decodeSuccession,
  encodeRevocations,
  encodeSuccession,
  type KnownRevocations,
  MAX_REVOCATION_BYTES,
  type RevocationList,
  type SignedSuccession,
} from '../channel/membership/index.ts'
import { type Sealed } from '../core/artefact.ts'
import { fromHex, toHex } from '../core/bytes.ts'
import { CtError, isCtError, toCtError } from '../core/errors.ts'
import { generateInstanceId } from '../core/keys.ts'
import { type Log } from '../core/log.ts'
import { writeSecretFile } from '../core/secret-file.ts'

/** Two digits a byte, and room for successions. */
const MAX_FILE_BYTES = 2 * MAX_REVOCATION_BYTES + 4_096
/** A removal is to hold within a second, also one that comes by this file. */
const LOOK_EVERY_MS = 250

/** What the file holds: the list, and what shows that whoever signed it stands for the operator. */
export interface KeptRevocations {
  readonly list?: Sealed<RevocationList>
  readonly successions: readonly SignedSuccession[]
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID`, `ERR_STATE_UNAVAILABLE` */
export function readRevocationFile(path: string): KeptRevocations {
  const [first, ...more] = (readIfThere(path) ?? '').split('\n').map((line) => line.trim())
  try {
    const successions = more.filter((line) => line !== '').map((line) => decodeSuccession(bytesOf(line)))
    if (first === undefined || first === '') return { successions }
    return { list: decodeRevocations(bytesOf(first)), successions }
  } catch (error) {
    throw isCtError(error) ? new CtError(error.code, `${path}: ${error.message}`, { cause: error }) : error
  }
}

function bytesOf(line: string): Uint8Array {
  const bytes = fromHex(line)
  if ('problem' in bytes) throw new CtError('ERR_ARTEFACT_INVALID', `expected hex, found ${bytes.problem}`)
  return bytes
}

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function writeRevocationFile(
  path: string,
  list: Sealed<RevocationList>,
  successions: readonly SignedSuccession[],
): void {
  const lines = [encodeRevocations(list), ...successions.map(encodeSuccession)]
  writeSecretFile(path, lines.map((bytes) => `${toHex(bytes)}\n`).join(''), generateInstanceId())
}

/**
 * Learns what is in the file now and whenever it changes, and writes newer lists that come another way into it; as long
 * as the process lives, which is not kept alive by it.
 *
 * @throws {CtError} as {@link readRevocationFile}, and `ERR_SIGNATURE_INVALID`, for what is in it now
 */
export function followRevocationFile(path: string, revocations: KnownRevocations, log: Log): void {
  const take = (): void => {
    const { list, successions } = readRevocationFile(path)
    revocations.follow(successions)
    // Whoever keeps the file up to date knows what the operator says.
    if (list !== undefined && revocations.learn(list)) revocations.confirm()
  }
  take()
  watchFile(path, { persistent: false, interval: LOOK_EVERY_MS }, () => {
    attempt(log, 'revocations.not_read', take)
  })
  revocations.onNewer((list) => {
    attempt(log, 'revocations.not_written', () => {
      const there = readRevocationFile(path).list
      if (there !== undefined && there.body.sequence >= list.body.sequence) return
      writeRevocationFile(path, list, revocations.shown)
    })
  })
}

function attempt(log: Log, event: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    const { code, message } = toCtError(error)
    log.warn(event, { code, reason: message })
  }
}

function readIfThere(path: string): string | undefined {
  try {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined) return undefined
    if (!status.isFile() || status.size > MAX_FILE_BYTES) {
      throw new CtError('ERR_ARTEFACT_INVALID', `${path}: expected a file of at most ${MAX_FILE_BYTES} bytes`)
    }
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCtError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot read ${path}: ${reason}`, { cause: error, detail: { path } })
  }
}
