/**
 * Verifies or shows all documents of a file or of stdin, and says so as people or programs want it.
 *
 * Holds: the status is 0 only when there is at least one document and all are valid; else it is that of the first
 * failure.
 *
 * @module
 */
import { type EnvProblem, refuseProblems } from '../../core/env.ts'
import { type ExactObject, writeExactJson } from '../../core/exact-json.ts'
import { escapeUnprintable } from '../../core/printable.ts'
import { type Context } from '../command.ts'
import { type Io, isWatched, notice, printLine } from '../io.ts'
import { CLEAR_LINE, withProgress } from '../progress.ts'
import { watchShutdown } from '../shutdown.ts'
import { type ArtefactReader } from './artefact-reading.ts'
import { documentsOf, inSource, nothingIn } from './document-source.ts'
import { type Field, fieldLines } from './shown-fields.ts'
import { grouped, Tally, type Verdict, verdictsOn } from './verdicts.ts'
import { readChecks } from './verify-settings.ts'

/** What is printed of one document; `alone` when there is no other. */
type Render = (verdict: Verdict, alone: boolean) => string | undefined

/** `verify`: a line for a single document, else one for each that fails. */
export function verifyDocuments(context: Context, reader: ArtefactReader): Promise<number> {
  const render = context.switches.has('json') ? asJson : asLine
  return checkDocuments(context, reader, render)
}

/** `show`: all fields of every document, valid or not. */
export function showDocuments(context: Context, reader: ArtefactReader): Promise<number> {
  const render = context.switches.has('json') ? asFullJson : asFields(reader.name)
  return checkDocuments(context, reader, render)
}

async function checkDocuments(context: Context, reader: ArtefactReader, render: Render): Promise<number> {
  const { io, env, clock, operands } = context
  const problems: EnvProblem[] = []
  const checks = readChecks(env, problems)
  refuseProblems(problems)
  const source = documentsOf(io, operands[0])
  const shutdown = watchShutdown(io, 'ERR_STOPPED')
  const tally = new Tally()
  const verdicts = verdictsOn(source.documents, { reader, checks, clock, signal: shutdown.signal })
  const what = (): string => `checked ${grouped(tally.count)}`
  try {
    await withProgress(io, clock, what, printAll(io, verdicts, tally, render))
  } catch (error) {
    if (tally.count > 0) notice(io, `ct-agent: before that: ${tally.summary()}`)
    throw error
  } finally {
    shutdown.dispose()
  }
  if (tally.count === 0) throw nothingIn(source.name)
  const { firstFailure } = tally
  if (!context.switches.has('json')) {
    if (tally.count > 1) await printLine(io, tally.summary())
    else if (firstFailure !== undefined) throw inSource(source.name, firstFailure)
  }
  return firstFailure === undefined ? 0 : firstFailure.facts.exit
}

/** The first verdict waits for a second: only then it is known how to say it. */
async function printAll(io: Io, verdicts: AsyncIterable<Verdict>, tally: Tally, render: Render): Promise<void> {
  let first: Verdict | undefined
  const print = async (verdict: Verdict, alone: boolean): Promise<void> => {
    const text = render(verdict, alone)
    if (text === undefined) return
    if (isWatched(io)) io.stderr.write(CLEAR_LINE)
    await printLine(io, text)
  }
  const flush = async (alone: boolean): Promise<void> => {
    if (first !== undefined) await print(first, alone)
    first = undefined
  }
  try {
    for await (const verdict of verdicts) {
      tally.add(verdict)
      if (tally.count === 1) {
        first = verdict
        continue
      }
      await flush(false)
      await print(verdict, false)
    }
  } catch (error) {
    await flush(false)
    throw error
  }
  await flush(true)
}

const asLine: Render = ({ index, outcome }, alone) => {
  if ('checked' in outcome) return alone ? `valid  ${outcome.checked.line}` : undefined
  // Of a single document the error itself is reported.
  if (alone) return undefined
  return escapeUnprintable(`document ${index}: ${outcome.error.code} ${outcome.error.message}`)
}

const asJson: Render = (verdict) => asJsonLine(verdict, {})

const asFullJson: Render = (verdict) =>
  asJsonLine(verdict, verdict.reading === undefined ? {} : { document: verdict.reading.json })

function asJsonLine({ index, outcome }: Verdict, more: ExactObject): string {
  const verdict: ExactObject =
    'checked' in outcome
      ? { index: BigInt(index), valid: true, ...outcome.checked.facts, form: outcome.checked.form }
      : { index: BigInt(index), valid: false, code: outcome.error.code, message: outcome.error.message }
  return escapeUnprintable(writeExactJson({ ...verdict, ...more }))
}

function asFields(name: string): Render {
  return ({ index, reading, outcome }, alone) => {
    const verdict = 'checked' in outcome ? `valid, ${FORM_WORDS[outcome.checked.form]}` : 'NOT VALID'
    const problem: readonly Field[] =
      'error' in outcome ? [['problem', `${outcome.error.code} ${outcome.error.message}`]] : []
    const head = `${alone ? '' : `document ${index}, `}${name}: ${verdict}`
    return [head, ...fieldLines([...problem, ...(reading?.fields() ?? [])])].join('\n')
  }
}

const FORM_WORDS = { current: 'current form', legacy: 'legacy form', a2a: 'A2A form' } as const
