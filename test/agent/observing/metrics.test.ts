import { describe, expect, it } from 'vitest'
import { metricsText } from '../../../src/agent/observing/metrics.ts'
import { Observing } from '../../../src/agent/observing/observing.ts'
import { isOpenToOthers, OBSERVING_ENV } from '../../../src/agent/observing/observing-settings.ts'
import { type Session, type Way } from '../../../src/channel/index.ts'
import { CtError } from '../../../src/core/errors.ts'
import { expositionText } from '../../../src/core/exposition.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type LinkEnd } from '../../../src/core/link.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'

const FACTS = { version: '1.2.3', command: 'serve', rssBytes: 1 }
const NAME = '[a-z_]+'
const LABELS = `\\{(?:${NAME}="(?:\\\\.|[^"\\\\\\n])*",?)*\\}`
const SAMPLE = new RegExp(`^(${NAME})(${LABELS})? (-?[0-9.e+-]+)$`)

/** The samples, after every line was held against the grammar of the format. */
function parse(text: string): ReadonlyMap<string, number> {
  expect(text.endsWith('\n')).toBe(true)
  const samples = new Map<string, number>()
  const typed = new Set<string>()
  for (const line of text.trimEnd().split('\n')) {
    const [, type] = new RegExp(`^# TYPE (${NAME}) (?:gauge|counter)$`).exec(line) ?? []
    if (type !== undefined) {
      expect(typed.has(type), `${type} is there once`).toBe(false)
      typed.add(type)
    } else if (!new RegExp(`^# HELP ${NAME} .+$`).test(line)) {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? []
      expect(typed.has(name), `expected a sample after its type, found ${line}`).toBe(true)
      expect(samples.has(name + labels)).toBe(false)
      samples.set(name + labels, Number(value))
    }
  }
  return samples
}

function sessionOf(number: number, way: Way['kind'] = 'direct') {
  const end = Promise.withResolvers<LinkEnd>()
  const holder = number.toString(16).padStart(64, '0').split('').reverse().join('') as HolderId
  const vitals = { bytesIn: 10, bytesOut: 20, roundTripMs: 5, way: { kind: way, where: '127.0.0.1:1' } }
  const session = { peer: { holder }, vitals, closed: end.promise } as unknown as Session
  return { session, vitals, close: () => end.resolve({ reason: new CtError('ERR_LINK_CLOSED', 'over'), final: true }) }
}

describe('the metrics of an agent', () => {
  it('are text that Prometheus reads, with counters that only grow', async () => {
    const observing = new Observing(new FakeClock())
    const { session, vitals, close } = sessionOf(1)
    const calls = observing.opened(session)
    calls.ended(calls.began(), { kind: 'tool', name: 'ping' }, 'ok')
    calls.ended(calls.began(), { kind: 'tool' }, 'ERR_TOOL_UNKNOWN')
    calls.refused({ kind: 'tool', name: 'ping' }, 'ERR_PEER_BUSY')
    const refusal = new CtError('ERR_PEER_REFUSED', 'no', { detail: { category: 'not-member' } })
    observing.notAdmitted(session.peer.holder, refusal, undefined)
    observing.notAdmitted(session.peer.holder, new CtError('ERR_LINK_LOST', 'gone'), undefined)
    const live = parse(metricsText(FACTS, observing))
    expect(Object.fromEntries(live)).toMatchObject({
      ct_agent_sessions: 1,
      ct_agent_sessions_total: 1,
      ct_agent_received_bytes_total: 10,
      ct_agent_sent_bytes_total: 20,
      'ct_agent_refusals_total{code="ERR_PEER_REFUSED",category="not-member"}': 1,
      'ct_agent_calls_total{kind="tool",name="ping",outcome="ok"}': 1,
      'ct_agent_calls_total{kind="tool",name="?",outcome="ERR_TOOL_UNKNOWN"}': 1,
      'ct_agent_calls_total{kind="tool",name="ping",outcome="ERR_PEER_BUSY"}': 1,
      'ct_agent_peer_sessions{peer="1000000000",path="direct"}': 1,
      'ct_agent_peer_round_trip_seconds{peer="1000000000",path="direct"}': 0.005,
    })
    vitals.bytesIn = 15
    close()
    await session.closed
    await Promise.resolve()
    const over = parse(metricsText(FACTS, observing))
    expect(over.get('ct_agent_sessions')).toBe(0)
    expect(over.get('ct_agent_received_bytes_total')).toBe(15)
    for (const [name, value] of live) if (/_total/.test(name)) expect(over.get(name)).toBeGreaterThanOrEqual(value)
  })

  it('have so many labels for peers and no more', () => {
    const observing = new Observing(new FakeClock())
    for (let number = 0; number < 300; number += 1) observing.opened(sessionOf(number).session)
    const samples = parse(metricsText(FACTS, observing))
    const peers = [...samples.keys()].filter((name) => name.startsWith('ct_agent_peer_sessions'))
    expect(peers).toHaveLength(101)
    expect(samples.get('ct_agent_peer_sessions{peer="other",path="direct"}')).toBe(200)
  })

  it('escape what stands in a label', () => {
    const text = expositionText([
      { name: 'a', kind: 'gauge', about: 'x', samples: [{ labels: { b: 'c"\\\n' }, value: 1 }] },
    ])
    expect(text.split('\n')[2]).toBe('a{b="c\\"\\\\\\n"} 1')
    parse(text)
  })
})

describe('CT_METRICS_ADDR', () => {
  it.each([
    { text: '9464', host: '127.0.0.1', port: 9_464, isOpen: false },
    { text: ':0', host: '127.0.0.1', port: 0, isOpen: false },
    { text: 'localhost:1', host: 'localhost', port: 1, isOpen: false },
    { text: '[::1]:1', host: '::1', port: 1, isOpen: false },
    { text: '0.0.0.0:9464', host: '0.0.0.0', port: 9_464, isOpen: true },
    { text: '[::]:9464', host: '::', port: 9_464, isOpen: true },
    { text: 'metrics.example:80', host: 'metrics.example', port: 80, isOpen: true },
  ])('$text is $host, port $port', ({ text, host, port, isOpen }) => {
    const parsed = OBSERVING_ENV.metrics.parse(text)
    expect(parsed).toEqual({ value: { host, port } })
    expect(isOpenToOthers({ host, port })).toBe(isOpen)
  })

  it.each(['', 'x', '70000', 'host', 'host:', '::1:80', 'a:b:1'])('refuses %j', (text) => {
    expect(OBSERVING_ENV.metrics.parse(text)).toHaveProperty('problem')
  })
})
