/**
 * `npm run bench [-- --quick] [-- --publish] [row …]`: measures ct-agent beside its rivals, all in one run.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { VERSION } from '../src/core/version.ts'
import { chartSvg } from './chart.ts'
import { describeMachine } from './machine.ts'
import { figureLines, type Report, reportJson } from './report.ts'
import { type Effort, type Figure, judge, type Row } from './row.ts'
import { bulkRow } from './rows/bulk.ts'
import { concurrentRow, sequentialRow } from './rows/calls.ts'
import { contactRow } from './rows/contact.ts'
import { hostsRow } from './rows/hosts.ts'
import { parkedRow } from './rows/parked.ts'
import { peersRow } from './rows/peers.ts'
import { pipeRow } from './rows/pipe.ts'
import { signingRow } from './rows/signing.ts'
import { frozenRow, stalledRow } from './rows/stalled.ts'
import { oneShotRow, serveRow, versionRow } from './rows/start.ts'

const ROWS: readonly Row[] = [
  versionRow,
  oneShotRow,
  contactRow,
  serveRow,
  sequentialRow,
  concurrentRow,
  hostsRow,
  bulkRow,
  pipeRow,
  stalledRow,
  frozenRow,
  peersRow,
  parkedRow,
  signingRow,
]
const FULL: Effort = { rounds: 7, loadMs: 2_000, peers: 1_000, pipedBytes: 2 ** 28, offeredBytes: 2 ** 30 }
/** Shows that everything runs; its figures are too rough to be published. */
const QUICK: Effort = { rounds: 3, loadMs: 500, peers: 100, pipedBytes: 2 ** 26, offeredBytes: 2 ** 27 }

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, publish: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const unknown = positionals.filter((name) => !ROWS.some((row) => row.name === name))
if (unknown.length > 0) {
  console.error(`unknown rows ${unknown.join(', ')}; there are ${ROWS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const machine = describeMachine()
console.log(`${machine}\n`)
const figures: Figure[] = []
for (const row of ROWS) {
  if (positionals.length > 0 && !positionals.includes(row.name)) continue
  for (const figure of await row.run(values.quick ? QUICK : FULL)) {
    figures.push(figure)
    console.log(figureLines(figure).join('\n'))
  }
}

const report: Report = { machine, version: VERSION, date: new Date().toISOString().slice(0, 10), figures }
write('bench/results', 'latest.json', reportJson(report))
write('bench/results', 'latest.svg', chartSvg(report))
if (values.publish) {
  write('docs', 'benchmarks.json', reportJson(report))
  write('docs', 'benchmarks.svg', chartSvg(report))
}
const missed = figures.flatMap((figure) => figure.goals.map((goal) => judge(figure, goal))).filter(({ met }) => !met)
console.log(missed.length === 0 ? 'all goals met' : `${missed.length} goals missed`)
process.exit(0)

function write(folder: string, name: string, text: string): void {
  const path = fileURLToPath(new URL(`../${folder}/`, import.meta.url))
  mkdirSync(path, { recursive: true })
  writeFileSync(path + name, text)
}
