/**
 * The table of docs/benchmarks.md about soaks, from what the last published ones found.
 *
 * @module
 */
import { readFileSync } from 'node:fs'

interface Soak {
  readonly version: string
  readonly date: string
  readonly machine: string
}

interface FaultSoak extends Soak {
  readonly seed: number
  readonly seconds: number
  readonly faults: Readonly<Record<string, number>>
  readonly callsMeanwhile: number
  readonly verdict: {
    readonly calls: number
    readonly results: number
    readonly errors: Readonly<Record<string, number>>
    readonly executed: number
    readonly wrong: Readonly<Record<string, number>>
  }
}

interface BulkSoak extends Soak {
  readonly gibibytes: number
  readonly relayedConnections: number
  readonly megabytesPerSecond: number
  readonly brokerPeakMegabytes: number
}

interface ContactSoak extends Soak {
  readonly contacts: number
  readonly seconds: number
  readonly medianMs: number
  readonly slowestMs: number
  readonly brokerMegabytesAtHalf: number
  readonly brokerMegabytesAtEnd: number
}

interface Soaks {
  readonly faults?: FaultSoak
  readonly bulk?: BulkSoak
  readonly contacts?: ContactSoak
}

/** Lines of the document, one row a soak; those that were not published are left out. */
export function soakTable(path: string): string {
  const { faults, bulk, contacts }: Soaks = JSON.parse(readFileSync(path, 'utf8'))
  return [
    '| what | found | when and where |',
    '| --- | --- | --- |',
    ...(faults === undefined ? [] : [faultRow(faults)]),
    ...(bulk === undefined ? [] : [bulkRow(bulk)]),
    ...(contacts === undefined ? [] : [contactRow(contacts)]),
  ].join('\n')
}

function faultRow(soak: FaultSoak): string {
  const { seed, seconds, faults, verdict } = soak
  const { calls, results, errors, executed, wrong } = verdict
  const happened = Object.values(faults).reduce((sum, count) => sum + count, 0)
  const ends = Object.entries(errors).map(([code, count]) => `${count} in \`${code}\``)
  const faulty = Object.entries(wrong).filter(([, count]) => count > 0)
  return rowOf(soak, `${calls} calls through a broker, ${happened} faults (seed ${seed}, ${minutes(seconds)})`, [
    `${results} calls ended in their result${ends.length === 0 ? '' : `, ${ends.join(', ')}`}; ${executed} were executed`,
    faulty.length === 0
      ? 'none lost, none executed twice, none acknowledged and not executed, none late'
      : `**wrong**: ${faulty.map(([name, count]) => `${name} ${count}`).join(', ')}`,
    `what happened: ${listOf(faults)}`,
  ])
}

function bulkRow(soak: BulkSoak): string {
  const { gibibytes, relayedConnections, megabytesPerSecond, brokerPeakMegabytes } = soak
  return rowOf(soak, `${gibibytes} GiB through one relay, each byte checked`, [
    `${relayedConnections === 1 ? 'one connection, no reset' : `${relayedConnections} connections`}`,
    `${megabytesPerSecond} MB/s; the broker’s memory at most ${brokerPeakMegabytes} MB`,
  ])
}

function contactRow(soak: ContactSoak): string {
  const { contacts, seconds, medianMs, slowestMs, brokerMegabytesAtHalf, brokerMegabytesAtEnd } = soak
  return rowOf(soak, `${contacts} contacts through one relay, one after the other, each with a call`, [
    `all answered in ${minutes(seconds)}; median ${medianMs} ms, slowest ${slowestMs} ms`,
    `the broker had ${brokerMegabytesAtHalf} MB after half of them and ${brokerMegabytesAtEnd} MB at the end`,
  ])
}

function rowOf({ version, date, machine }: Soak, what: string, found: readonly string[]): string {
  return `| ${what} | ${found.join('; ')} | ct-agent ${version}, ${date}, ${machine} |`
}

function listOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function minutes(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
