/**
 * Figures as a bar chart: one group a figure, one bar a subject, each group on a scale of its own.
 *
 * @module
 */
import { formatNumber, type Report } from './report.ts'
import { type Figure, OURS } from './row.ts'
import { median } from './statistics.ts'

const WIDTH = 760
const LABEL_WIDTH = 130
const VALUE_WIDTH = 110
const BAR_HEIGHT = 16
const BAR_STEP = 21
const TITLE_HEIGHT = 30
const MARGIN = 16

export function chartSvg({ machine, figures }: Report): string {
  let y = MARGIN
  const groups = figures.map((figure) => {
    const group = figureGroup(figure, y)
    y += TITLE_HEIGHT + figure.measured.length * BAR_STEP + MARGIN
    return group
  })
  const height = y + MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Benchmarks of ct-agent">
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 13px }
.note { fill: #59636e; font-size: 11px }
.bar { fill: #b6c2cf }
.ours { fill: #1a7f64 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .note { fill: #9198a1 }
  .bar { fill: #4b5661 }
  .ours { fill: #3fb68b }
}
</style>
${groups.join('\n')}
<text class="note" x="${MARGIN}" y="${height - MARGIN + 4}">${escapeText(machine)}</text>
</svg>
`
}

function figureGroup({ title, unit, better, measured }: Figure, top: number): string {
  const medians = measured.map(({ values }) => median(values))
  const largest = Math.max(...medians, Number.MIN_VALUE)
  const room = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH
  const bars = measured.map(({ subject }, index) => {
    const value = medians[index] ?? 0
    const y = top + TITLE_HEIGHT + index * BAR_STEP
    const x = MARGIN + LABEL_WIDTH
    const width = Math.max(1, Math.round((room * value) / largest))
    const textY = y + BAR_HEIGHT - 4
    return `<text x="${x - 8}" y="${textY}" text-anchor="end">${escapeText(subject)}</text>
<rect class="bar${subject === OURS ? ' ours' : ''}" x="${x}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>
<text x="${x + width + 8}" y="${textY}">${formatNumber(value)} ${escapeText(unit)}</text>`
  })
  const heading = `<text class="title" x="${MARGIN}" y="${top + TITLE_HEIGHT - 12}">${escapeText(title)} <tspan class="note">${better} is better</tspan></text>`
  return [heading, ...bars].join('\n')
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
