/**
 * The status of an agent for people: a few lines, and its peers in a table.
 *
 * The agent that answers may be of another version, so what is missing or of another kind is left out.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { printable } from '../../core/printable.ts'
import { tableLines } from '../table.ts'

const MAX_CELL_CHARS = 48
const SHORT_ID_CHARS = 10
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const
const HEADINGS = [
  'peer',
  'name',
  'path',
  'where',
  'since',
  'rtt',
  'in',
  'out',
  'done',
  'open',
  'refused',
  'last refusal',
]
/** From the sixth column on, but for the last, cells are numbers. */
const NUMBERS: ReadonlySet<number> = new Set([4, 5, 6, 7, 8, 9, 10])

export function statusLines(agent: JsonObject, now: number, bold: (text: string) => string): readonly string[] {
  const { command, pid, holder, uptime_seconds: uptime, addresses, broker, refusals, metrics, audit } = agent
  const at =
    Array.isArray(addresses) && addresses.length > 0
      ? `, at ${addresses.map((address) => cell(address)).join(', ')}`
      : ''
  return [
    `${bold(`ct-agent ${cell(command)}`)} (pid ${cell(pid)}), up ${duration(number(uptime))}, holder ${cell(holder, 64)}${at}`,
    ...(isJsonObject(broker) ? brokerLines(broker) : []),
    ...peerLines(agent, now, bold),
    ...(isJsonObject(refusals) ? refusalLines(refusals, now) : []),
    ...(metrics === undefined ? [] : [`metrics at ${cell(metrics)}`]),
    ...(isJsonObject(audit) && typeof audit['problem'] === 'string'
      ? [`the audit log is not written: ${cell(audit['problem'], 200)}`]
      : []),
  ]
}

function brokerLines({ state, since, observed, code, relay, ...counts }: JsonObject): readonly string[] {
  // A broker itself, which only counts.
  if (state === undefined) {
    const shown = Object.entries(counts).filter(([, value]) => typeof value === 'number')
    return [shown.map(([name, value]) => `${cell(name)} ${cell(value)}`).join(', ')]
  }
  const seen = observed === undefined ? '' : `, which sees this side at ${cell(observed)}`
  const how = isJsonObject(relay) ? `; relay: ${cell(relay['state'])}${because(relay['code'])}` : ''
  return [`broker: ${cell(state)} since ${cell(since)}${seen}${because(code)}${how}`]
}

function because(code: JsonValue | undefined): string {
  return code === undefined ? '' : ` (${cell(code)})`
}

function peerLines(
  { peers, peers_total: total }: JsonObject,
  now: number,
  bold: (text: string) => string,
): readonly string[] {
  if (!Array.isArray(peers)) return []
  if (peers.length === 0) return ['no peers']
  const rows = peers.filter(isJsonObject).map((peer) => peerCells(peer, now))
  const [head = '', ...lines] = tableLines([HEADINGS, ...rows], NUMBERS)
  const more = number(total) - rows.length
  return [bold(head), ...lines, ...(more > 0 ? [`and ${more} more`] : [])]
}

function peerCells(peer: JsonObject, now: number): readonly string[] {
  const { last_refusal: last } = peer
  const { rtt_ms: rtt } = peer
  return [
    cell(peer['holder']).slice(0, SHORT_ID_CHARS),
    cell(peer['name']),
    cell(peer['path']),
    cell(peer['where']),
    age(peer['since'], now),
    typeof rtt === 'number' ? `${rtt.toFixed(1)} ms` : '',
    bytes(number(peer['bytes_in'])),
    bytes(number(peer['bytes_out'])),
    cell(peer['calls_done']),
    cell(peer['calls_in_flight']),
    cell(peer['calls_refused']),
    isJsonObject(last) ? `${cell(last['code'])} ${age(last['at'], now)} ago` : '',
  ]
}

function refusalLines({ total, counts, latest }: JsonObject, now: number): readonly string[] {
  if (number(total) === 0) return []
  const parts = (Array.isArray(counts) ? counts : []).filter(isJsonObject).map(({ code, category, count }) => {
    return `${cell(code)}${category === undefined ? '' : ` [${cell(category)}]`} ${cell(count)}`
  })
  const [last] = (Array.isArray(latest) ? latest : []).filter(isJsonObject)
  const who =
    last === undefined ? '' : `; the last ${cell(last['holder']).slice(0, SHORT_ID_CHARS)} ${age(last['at'], now)} ago`
  return [`refused: ${parts.join(', ')}${who}`]
}

function cell(value: JsonValue | undefined, maxChars = MAX_CELL_CHARS): string {
  return value === undefined ? '' : printable(String(value), maxChars)
}

function number(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

function age(since: JsonValue | undefined, now: number): string {
  const at = typeof since === 'string' ? Date.parse(since) : Number.NaN
  return Number.isNaN(at) ? '' : duration(Math.max(0, Math.round((now - at) / 1_000)))
}

/** The two largest units of it. */
function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}

function bytes(count: number): string {
  const power = Math.min(UNITS.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3))
  return `${power === 0 ? count : (count / 1_000 ** power).toFixed(1)} ${UNITS[power] ?? 'B'}`
}
