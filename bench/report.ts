/**
 * Figures as text for a terminal and as JSON for a file.
 *
 * @module
 */
import { type Figure, judge, type Measured, OURS } from './row.ts'
import { median } from './statistics.ts'

export interface Report {
  readonly machine: string
  readonly version: string
  readonly date: string
  readonly figures: readonly Figure[]
}

/** The figure as lines: one a subject, then one a goal. */
export function figureLines(figure: Figure): string[] {
  const { title, unit, better, measured, goals, note } = figure
  const width = Math.max(...measured.map(({ subject }) => subject.length))
  return [
    `${title} (${unit}, ${better} is better)`,
    ...measured.map((entry) => `  ${entry.subject.padEnd(width)}  ${valueLine(entry, figure)}`),
    ...goals.map((goal) => {
      const { text, met } = judge(figure, goal)
      return `  ${met ? 'goal met' : 'GOAL MISSED'}: ${text}`
    }),
    ...(note === undefined ? [] : [`  note: ${note}`]),
    '',
  ]
}

function valueLine({ subject, values }: Measured, { measured }: Figure): string {
  const found = median(values)
  const range = `${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))}`
  const ours = measured.find((entry) => entry.subject === OURS)
  const factor =
    ours === undefined || subject === OURS ? '' : `  ct-agent is at ${(median(ours.values) / found).toFixed(2)} ×`
  return `${formatNumber(found).padStart(9)}  (${range})${factor}`
}

/** Three significant digits, without an exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')
  return String(Number(value.toPrecision(3)))
}

export function reportJson(report: Report): string {
  const figures = report.figures.map((figure) => ({
    ...figure,
    measured: figure.measured.map(({ subject, values }) => ({
      subject,
      median: rounded(median(values)),
      values: values.map(rounded),
    })),
    goals: figure.goals.map((goal) => judge(figure, goal)),
  }))
  return `${JSON.stringify({ ...report, figures }, null, 2)}\n`
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
