import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  auditLine,
  CHAIN_START,
  MAX_LINE_BYTES,
  recoveredEntry,
} from '../../../src/agent/observing/audit/audit-line.ts'
import { chainOf, check, entries, entry } from './audit-lines.ts'

const LINES = chainOf(entries(6))
const WHOLE = Buffer.from(LINES.join(''))

describe('an audit chain', () => {
  it('passes as it was written', () => {
    expect(check(WHOLE)).toEqual({ problem: undefined, isTorn: false, entries: 6, recovered: 0 })
    expect(check(Buffer.alloc(0))).toEqual({ problem: undefined, isTorn: false, entries: 0, recovered: 0 })
  })

  it('shows every single changed byte, and the line that it is in', () => {
    let line = 1
    for (let at = 0; at < WHOLE.length; at += 1) {
      for (const mask of [0x01, 0x20, 0x80]) {
        const changed = Buffer.from(WHOLE)
        changed[at] = (changed[at] ?? 0) ^ mask
        const { problem, isTorn } = check(changed)
        // The last line feed is all that tells a finished line.
        if (at === WHOLE.length - 1) expect(isTorn).toBe(true)
        else expect(problem, `byte ${at}`).toMatchObject({ line, fault: 'changed' })
      }
      if (WHOLE[at] === 10) line += 1
    }
  })

  const line = (number: number): string => LINES[number - 1] ?? ''
  const foreign = auditLine({ sequence: 2, hash: 'f'.repeat(64) }, '0123456789', entry(9)).text

  it.each([
    { what: 'a line is missing', lines: [1, 2, 4, 5, 6], fault: 'missing', at: 3 },
    { what: 'several are missing', lines: [1, 5, 6], fault: 'missing', at: 2 },
    { what: 'the first is missing', lines: [2, 3, 4], fault: 'missing', at: 1 },
    { what: 'two change places', lines: [1, 3, 2, 4], fault: 'moved', at: 2 },
    { what: 'the last two change places', lines: [1, 2, 4, 3], fault: 'moved', at: 3 },
    { what: 'a line stands there twice', lines: [1, 2, 2, 3], fault: 'moved', at: 3 },
    { what: 'the order is reversed', lines: [3, 2, 1], fault: 'missing', at: 1 },
  ])('shows when $what', ({ lines, fault, at }) => {
    expect(check(Buffer.from(lines.map(line).join(''))).problem).toMatchObject({ fault, line: at })
  })

  it('shows a line that was made anew in place of another', () => {
    const found = check(Buffer.from([line(1), line(2), foreign].join('')))
    expect(found.problem).toMatchObject({ fault: 'replaced', line: 3 })
    const made = auditLine({ sequence: 1, hash: CHAIN_START.hash }, '0123456789', entry(2)).text
    expect(check(Buffer.from([line(1), made, line(3)].join(''))).problem).toMatchObject({ fault: 'replaced', line: 2 })
  })

  it('never passes what any change of many bytes made of it', () => {
    fc.assert(
      fc.property(fc.nat(WHOLE.length - 1), fc.nat(200), fc.uint8Array({ maxLength: 200 }), (at, removed, inserted) => {
        const changed = Buffer.concat([WHOLE.subarray(0, at), inserted, WHOLE.subarray(at + removed)])
        fc.pre(!changed.equals(WHOLE))
        const { problem, isTorn, entries: count } = check(changed)
        // All that cannot be seen is that whole lines are gone from the end.
        if (problem === undefined && !isTorn) expect(changed.equals(WHOLE.subarray(0, changed.length))).toBe(true)
        expect(problem !== undefined || count <= 6).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a line that was cut off', () => {
  it('is allowed when the next one notes it, to the byte', () => {
    for (const length of [1, 5, 100, line(3).length - 2]) {
      const torn = Buffer.from(line(3).slice(0, length))
      const head = headAfter(2)
      const note = auditLine(head, '0123456789', recoveredEntry(torn, 0))
      const next = auditLine(note.head, '0123456789', entry(4))
      const parts = [line(1), line(2), torn.toString(), '\n', note.text, next.text]
      expect(check(Buffer.from(parts.join('')))).toEqual({
        problem: undefined,
        isTorn: false,
        entries: 4,
        recovered: 1,
      })
      expect(check(Buffer.from(parts.with(2, `${torn.toString()} `).join(''))).problem).toMatchObject({
        fault: 'changed',
        line: 3,
      })
      expect(check(Buffer.from(parts.toSpliced(2, 2).join(''))).problem).toMatchObject({ fault: 'missing', line: 3 })
    }
  })

  it('at the end is said, and is no fault', () => {
    expect(check(WHOLE.subarray(0, WHOLE.length - 20))).toMatchObject({ problem: undefined, isTorn: true, entries: 5 })
    expect(check(WHOLE.subarray(0, WHOLE.length - 1))).toMatchObject({ problem: undefined, isTorn: false, entries: 6 })
  })

  function line(number: number): string {
    return LINES[number - 1] ?? ''
  }

  function headAfter(count: number) {
    let head = CHAIN_START
    for (let number = 1; number <= count; number += 1) head = auditLine(head, '0123456789', entry(number)).head
    return head
  }
})

it('a line is never longer than a reader expects', () => {
  const { text } = auditLine(CHAIN_START, '0123456789', { event: 'call', at: 0, facts: { tool: 'x'.repeat(9_000) } })
  expect(text.length).toBeLessThanOrEqual(MAX_LINE_BYTES)
  expect(check(Buffer.from(text))).toMatchObject({ problem: undefined, entries: 1 })
})
