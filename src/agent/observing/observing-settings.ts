/**
 * How an agent that runs can be watched.
 *
 * @module
 */
import { type EnvRow, parseInteger, quote } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'
import { AUDIT_ENV } from './audit/audit-settings.ts'

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

export const OBSERVING_ENV = {
  ...AUDIT_ENV,
  metrics: {
    name: 'CT_METRICS_ADDR',
    about: 'Where metrics can be read over HTTP: a port of this machine alone, or host:port; nowhere unless set',
    expects: 'port or host:port',
    parse: parseMetricsAddress,
    flag: 'metrics',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

const LOOPBACK = '127.0.0.1'
const MAX_PORT = 65_535
const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/

/** Whoever names no host means this machine: metrics tell who calls, and nobody is asked for a key. */
function parseMetricsAddress(text: string): Parsed<MetricsAddress> {
  const given = text.trim()
  const [, bracketed, plain = '', digits = given] = HOST_AND_PORT.exec(given) ?? []
  const port = parseInteger(0, MAX_PORT)(digits)
  if ('problem' in port) return { problem: `found ${quote(text)}` }
  const host = bracketed ?? plain
  return { value: { host: host === '' ? LOOPBACK : host, port: port.value } }
}

/** Others than this machine can get there. */
export function isOpenToOthers({ host }: MetricsAddress): boolean {
  return !/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)
}
