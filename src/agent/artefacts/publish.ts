/**
 * Where what a command signed goes: to stdout, or into the file that `--out` names.
 *
 * @module
 */
import { type ExactObject, writeExactJson } from '../../core/exact-json.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { escapeUnprintable } from '../../core/printable.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { writeOutput } from '../output.ts'

/** One line of JSON. On a terminal nothing in it can steer that; it is the same JSON all the same. */
export async function publish({ io, values, switches }: Context, json: ExactObject): Promise<number> {
  const text = writeExactJson(json)
  const file = values.get('out')
  if (file === undefined || file === '-') {
    await printLine(io, io.stdout.isTTY === true ? escapeUnprintable(text) : text)
    return 0
  }
  writeOutput(file, `${text}\n`, generateInstanceId())
  if (switches.has('json')) await printLine(io, JSON.stringify({ file }))
  else notice(io, `ct-agent: written to ${file}`)
  return 0
}
