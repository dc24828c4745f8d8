/**
 * A process that opens a session, waits for the word, then offers far more than its peer reads: `<ticket> <bytes>`.
 *
 * @module
 */
import { once } from 'node:events'
import { toCtError } from '../src/core/errors.ts'
import { type Outcome } from './outcome.ts'
import { createCaller, openSession } from './subjects/ct-agent.ts'

const TEXT = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/bench', params: { bulk: 'a'.repeat(1_048_000) } })
const WATCH_MS = 50

const [ticket = '', bytes = '0'] = process.argv.slice(2)
const session = await openSession(await createCaller(), ticket)
process.send?.('ready')
await once(process, 'message')

// As for a caller that waits for its answers.
session.watch(true)
const began = performance.now()
const before = process.memoryUsage.rss()
let highest = before
const watch = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss())
}, WATCH_MS)
// All at once: what waits must be bounded by the session, not by the patience of its user.
const offers = Array.from({ length: Math.ceil(Number(bytes) / TEXT.length) }, () => session.send({ text: TEXT }))
const code = await Promise.all(offers).then(
  () => '',
  (error: unknown) => toCtError(error).code,
)
clearInterval(watch)
const outcome: Outcome = { gainedBytes: highest - before, code, milliseconds: performance.now() - began }
process.send?.(outcome, () => process.exit())
