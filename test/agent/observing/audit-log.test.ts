import { describe, expect, it } from 'vitest'
import { type Appended, type AuditFile } from '../../../src/agent/observing/audit/audit-file.ts'
import { type AuditEntry } from '../../../src/agent/observing/audit/audit-line.ts'
import { AuditLog, MAX_WAITING } from '../../../src/agent/observing/audit/audit-log.ts'
import { MAX_LIKE_LINES } from '../../../src/agent/observing/audit/audit-series.ts'
import { CtError } from '../../../src/core/errors.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'

/** Takes as many entries of every batch as it has room for. */
class FakeFile implements Pick<AuditFile, 'path' | 'head' | 'append' | 'close'> {
  readonly path = 'audit.log'
  readonly head = undefined
  readonly lines: AuditEntry[] = []
  batches = 0
  room = Number.POSITIVE_INFINITY

  append(entries: readonly AuditEntry[]): Promise<Appended> {
    this.batches += 1
    const taken = entries.slice(0, this.room)
    this.lines.push(...taken)
    this.room -= taken.length
    if (taken.length === entries.length) return Promise.resolve({ written: taken.length })
    const failure = new CtError('ERR_STATE_UNAVAILABLE', 'no space left')
    return Promise.resolve({ written: taken.length, failure })
  }

  close(): void {}
}

function open() {
  const clock = new FakeClock()
  const file = new FakeFile()
  const log = new AuditLog(file as unknown as AuditFile, clock, silentLog)
  /** Lets what is due happen, promises included. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  return { clock, file, log, pass }
}

describe('an audit log', () => {
  it('writes what comes alone at once, and what comes together in one write', async () => {
    const { file, log, pass } = open()
    log.record('admitted', {})
    await pass(0)
    expect(file.lines.map(({ event }) => event)).toEqual(['admitted'])
    for (let number = 0; number < 100; number += 1) log.record('call', { number })
    await pass(49)
    expect(file.batches).toBe(1)
    await pass(1)
    expect(file.batches).toBe(2)
    expect(file.lines).toHaveLength(101)
  })

  it('keeps what a full disk does not take, in order, and writes it once', async () => {
    const { file, log, pass } = open()
    file.room = 2
    for (let number = 0; number < 5; number += 1) log.record('call', { number })
    await pass(50)
    expect(log.state).toMatchObject({ written: 2, waiting: 3, problem: { code: 'ERR_STATE_UNAVAILABLE' } })
    await pass(900)
    expect(file.batches).toBe(1)
    file.room = Number.POSITIVE_INFINITY
    await pass(1_000)
    expect(file.lines.map(({ facts }) => facts['number'])).toEqual([0, 1, 2, 3, 4])
    expect(log.state).toMatchObject({ written: 5, waiting: 0, dropped: 0 })
    expect(log.state.problem).toBeUndefined()
  })

  it('holds no more than it may, and notes how many it lost', async () => {
    const { file, log, pass } = open()
    file.room = 0
    for (let number = 0; number < MAX_WAITING + 7; number += 1) log.record('call', { number })
    await pass(50)
    expect(log.state).toMatchObject({ waiting: MAX_WAITING, dropped: 7 })
    file.room = Number.POSITIVE_INFINITY
    for (let second = 0; second < 20; second += 1) await pass(1_000)
    expect(file.lines).toHaveLength(MAX_WAITING + 1)
    expect(file.lines.at(-1)).toMatchObject({ event: 'dropped', facts: { count: 7 } })
    log.record('call', {})
    await pass(1_000)
    expect(file.lines.at(-1)).toMatchObject({ event: 'call' })
  })

  it('gives events that are alike one line for each, and the many of one second a common one', async () => {
    const { clock, file, log, pass } = open()
    const pings = log.series('call', { tool: 'ping' })
    for (let number = 0; number < MAX_LIKE_LINES + 30; number += 1) pings.add(clock.monotonic(), {}, 0.25)
    await pass(1_000)
    await pass(50)
    expect(file.lines).toHaveLength(MAX_LIKE_LINES + 1)
    expect(file.lines[0]?.facts).toEqual({ tool: 'ping', ms: 0.25 })
    expect(file.lines.at(-1)?.facts).toEqual({ tool: 'ping', count: 30, ms: 7.5 })
    pings.add(clock.monotonic(), {}, 1)
    await pass(50)
    expect(file.lines.at(-1)?.facts).toEqual({ tool: 'ping', ms: 1 })
    expect(clock.timers).toBe(0)
  })

  it('writes at its end what waits, the common lines too, and waits for no disk that takes nothing', async () => {
    const { clock, file, log, pass } = open()
    const pings = log.series('call', { tool: 'ping' })
    for (let number = 0; number < MAX_LIKE_LINES + 1; number += 1) pings.add(clock.monotonic(), {})
    const closed = log.close(2_000)
    await pass(0)
    await closed
    expect(file.lines.at(-1)?.facts).toEqual({ tool: 'ping', count: 1 })
    const stuck = open()
    stuck.file.append = () => new Promise(() => {})
    stuck.log.record('call', {})
    await stuck.pass(0)
    const ended = stuck.log.close(2_000)
    await stuck.pass(2_000)
    await ended
  })

  it('writes each entry once and in order at its end, though a slow disk is still at the batch before', async () => {
    const { clock, file, log, pass } = open()
    const slow: (() => void)[] = []
    let most = 0
    const append = file.append.bind(file)
    file.append = async (entries) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      slow.push(resolve)
      most = Math.max(most, slow.length)
      await promise
      slow.splice(slow.indexOf(resolve), 1)
      return append(entries)
    }
    const goOn = async (): Promise<void> => {
      slow[0]?.()
      await pass(0)
    }
    log.record('call', { number: 0 })
    await pass(100)
    for (let number = 1; number < 3; number += 1) log.record('call', { number })
    const closed = log.close(2_000)
    await goOn()
    await pass(100)
    log.record('call', { number: 3 })
    await pass(100)
    for (let turn = 0; turn < 5; turn += 1) await goOn()
    await closed
    expect(file.lines.map(({ facts }) => facts['number'])).toEqual([0, 1, 2, 3])
    expect([most, clock.timers]).toEqual([1, 0])
  })
})
