/**
 * The entries of an audit log, oldest first, as they stand there.
 *
 * @module
 */
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { CtError } from '../../../core/errors.ts'
import { auditFiles } from './audit-file.ts'

/**
 * @param peer the beginning of a holder key; all unless given
 * @throws {CtError} `ERR_USAGE`
 */
export async function* shownAudit(path: string, peer: string | undefined): AsyncGenerator<string> {
  if (!existsSync(path)) throw new CtError('ERR_USAGE', `expected an audit log at ${path}, found none`)
  for (const file of auditFiles(path)) {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (peer === undefined || line.includes(`"peer":"${peer.toLowerCase()}`)) yield line
    }
  }
}
