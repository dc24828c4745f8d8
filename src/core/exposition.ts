/**
 * Metrics as the text that Prometheus reads.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 *
 * @module
 */

export interface Metric {
  readonly name: string
  readonly kind: 'gauge' | 'counter'
  readonly about: string
  readonly samples: readonly Sample[]
}

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** The text; a metric without samples is left out. */
export function expositionText(metrics: readonly Metric[]): string {
  const lines = metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, kind, about, samples }) => [
      `# HELP ${name} ${about}`,
      `# TYPE ${name} ${kind}`,
      ...samples.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}`),
    ])
  return [...lines, ''].join('\n')
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escapeOne)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeOne(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}
