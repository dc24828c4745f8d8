/**
 * The folder of keys and other state.
 *
 * Holds: it is left as it was; a folder that is not there yet is not made.
 *
 * @module
 */
import { accessSync, closeSync, constants, existsSync, openSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { toCtError } from '../../core/errors.ts'
import { KEY_BYTES, parseHexBytes } from '../../core/ids.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { readSecretFile, refuseOpenFolder } from '../../core/secret-file.ts'
import { type Finding, found } from './catalogue.ts'

/** The secrets that decide who this agent is. */
const KEYS = [
  'holder.key',
  'noise.key',
  'caller.key',
  'ticket.secret',
  'broker.key',
  'operator.key',
  'channel.id',
] as const
/** A day of logs and sales; keys need next to nothing. */
const LITTLE_BYTES = 50 * 1_024 * 1_024

export function checkState(stateDir: string): readonly Finding[] {
  const status = statSync(stateDir, { throwIfNoEntry: false })
  if (status === undefined) return [checkParent(stateDir)]
  if (!status.isDirectory())
    return [found('state.not_a_folder', `expected a folder, found something else: ${stateDir}`)]
  const findings = [...checkFolder(stateDir), ...KEYS.flatMap((name) => checkKey(`${stateDir}/${name}`))]
  return findings.length > 0 ? findings : [found('state.ok', stateDir)]
}

function checkParent(stateDir: string): Finding {
  let parent = dirname(stateDir)
  while (!existsSync(parent) && parent !== dirname(parent)) parent = dirname(parent)
  try {
    accessSync(parent, constants.W_OK)
    if (!statSync(parent).isDirectory())
      return found('state.not_a_folder', `expected a folder, found something else: ${parent}`)
    return found('state.ok', `${stateDir}, which is made when it is first needed`)
  } catch {
    return found(
      'state.not_writable',
      `cannot make ${stateDir}: this user may not write ${parent}`,
      'ERR_STATE_UNAVAILABLE',
    )
  }
}

function checkFolder(stateDir: string): readonly Finding[] {
  try {
    refuseOpenFolder(stateDir)
  } catch (error) {
    const { message, code } = toCtError(error)
    return [found('state.open', message, code)]
  }
  const probe = `${stateDir}/.doctor.${generateInstanceId()}.tmp`
  try {
    closeSync(openSync(probe, 'wx', 0o600))
    rmSync(probe)
  } catch (error) {
    return [
      found('state.not_writable', `cannot write ${stateDir}: ${toCtError(error).message}`, 'ERR_STATE_UNAVAILABLE'),
    ]
  }
  const { bavail, bsize } = statfsSync(stateDir)
  const free = bavail * bsize
  return free < LITTLE_BYTES
    ? [found('state.disk_full', `${Math.floor(free / 1_048_576)} MiB are left at ${stateDir}`)]
    : []
}

/** What is not there is made when it is first needed. */
function checkKey(path: string): readonly Finding[] {
  try {
    const text = readSecretFile(path)
    if (text === undefined) return []
    const bytes = parseHexBytes(text, KEY_BYTES)
    return 'problem' in bytes
      ? [found('state.key', `cannot use ${path}: ${bytes.problem}`, 'ERR_STATE_UNAVAILABLE')]
      : []
  } catch (error) {
    const { message, code } = toCtError(error)
    return [found('state.key', message, code)]
  }
}

/** When the newest of these files was changed, by the clock of then; in Unix milliseconds. */
export function newestChange(paths: readonly string[]): number {
  return Math.max(0, ...paths.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0))
}
