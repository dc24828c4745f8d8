/**
 * The table of docs/benchmarks.md, from the figures of the last published run.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { formatNumber } from '../bench/report.ts'
import { OURS } from '../bench/row.ts'

interface PublishedFigure {
  readonly title: string
  readonly unit: string
  readonly better: string
  readonly measured: readonly {
    readonly subject: string
    readonly median: number
    readonly values: readonly number[]
  }[]
  readonly goals: readonly { readonly text: string; readonly met: boolean }[]
}

interface Published {
  readonly machine: string
  readonly version: string
  readonly date: string
  readonly figures: readonly PublishedFigure[]
}

/** Lines of the document: the machine, then one row a figure. */
export function benchTable(path: string): string {
  const { machine, version, date, figures }: Published = JSON.parse(readFileSync(path, 'utf8'))
  return [
    `ct-agent ${version}, ${date}, ${machine}. Medians; in brackets the least and the most of all rounds.`,
    '',
    '| what | ct-agent | beside it | goal |',
    '| --- | --- | --- | --- |',
    ...figures.map(rowOf),
  ].join('\n')
}

function rowOf({ title, unit, better, measured, goals }: PublishedFigure): string {
  const ours = measured.find(({ subject }) => subject === OURS)
  const rivals = measured.filter(({ subject }) => subject !== OURS)
  const cells = [
    `${title} (${unit}, ${better} is better)`,
    ours === undefined ? '' : `${formatNumber(ours.median)} (${range(ours.values)})`,
    rivals.map(({ subject, median }) => `${subject} ${formatNumber(median)}`).join('; '),
    goals.map(({ text, met }) => `${met ? 'met' : '**missed**'}: ${text}`).join('; '),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function range(values: readonly number[]): string {
  return `${formatNumber(Math.min(...values))}–${formatNumber(Math.max(...values))}`
}
