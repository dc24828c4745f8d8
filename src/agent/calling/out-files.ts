/**
 * Where `--out` puts the binary content of a result.
 *
 * Holds: nothing that is there is replaced unless that was asked for. In a folder, every file is in that folder and has a
 * name of ours.
 *
 * @module
 */
import { extname, join } from 'node:path'
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { isThere } from '../input.ts'
import { createOutput, isFolder, makeOutputFolder, refuseUnwritable } from '../output.ts'
import { type Keep } from './binary-content.ts'

/** More than a result has room for; after so many names that are taken, somebody else is at work. */
const MAX_TRIES = 10_000

export interface OutWish {
  /** A folder if it is one or ends with a slash, else a file. */
  readonly out: string
  /** Replaces files that are there. */
  readonly force: boolean
  readonly unique: string
}

/**
 * Refuses what could not be written later, before anything is called.
 *
 * @throws {CtError} `ERR_USAGE`
 */
export function prepareOut({ out, force, unique }: OutWish): Keep {
  const inFolder = isFolder(out) || /[/\\]$/.test(out)
  if (inFolder) makeOutputFolder(out)
  if (!inFolder && !force && isThere(out)) {
    throw new CtError('ERR_USAGE', `expected no file ${quote(out)} yet, found one; --force replaces it`)
  }
  refuseUnwritable(inFolder ? join(out, 'content') : out, unique)
  let last = 0
  return (bytes, ending) => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      last += 1
      const path = inFolder ? join(out, `content-${last}.${ending}`) : numbered(out, last)
      if (createOutput(path, bytes, { force, unique })) return path
    }
    throw new CtError('ERR_USAGE', `expected a name that is free at ${quote(out)}, found ${MAX_TRIES} that are taken`)
  }
}

/** The first file has the name that was asked for. */
function numbered(path: string, count: number): string {
  if (count === 1) return path
  const ending = extname(path)
  return `${path.slice(0, path.length - ending.length)}-${count}${ending}`
}
