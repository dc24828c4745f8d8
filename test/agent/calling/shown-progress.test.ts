import { describe, expect, it } from 'vitest'
import { type ShownOptions, ShownProgress } from '../../../src/agent/calling/shown-progress.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'

function scene(form: ShownOptions['form'] = 'people', isTerminal = false) {
  const lines: string[] = []
  const clock = new FakeClock()
  const shown = new ShownProgress({ clock, form, write: isTerminal ? undefined : (line) => lines.push(line) })
  return { clock, lines, shown }
}

describe('the progress of a call', () => {
  it('is a bar where the whole is known, and says what is waited for before', () => {
    const { shown, lines } = scene('people', true)
    expect(shown.text).toBe('waiting for the answer')
    shown.tell({ progress: 1, total: 4, message: 'reading\u001b[2J' })
    expect(shown.text).toMatch(/^\[#{5} {15}\] 25 % reading\P{C}*$/u)
    shown.tell({ progress: 7, message: 'pages' })
    expect(shown.text).toBe('7 pages')
    shown.tell({ progress: 9, total: 4 })
    expect(shown.text).toBe(`[${'#'.repeat(20)}] 100 %`)
    expect(lines).toEqual([])
  })

  it('is lines where nobody watches, no more than can be read', () => {
    const { shown, lines, clock } = scene()
    for (let done = 1; done <= 10; done += 1) {
      shown.tell({ progress: done, total: 10 })
      clock.advance(100)
    }
    expect(lines).toEqual(['10 %', '30 %', '50 %', '70 %', '90 %'])
  })

  it('is JSON for programs', () => {
    const { shown, lines } = scene('json')
    shown.tell({ progress: 0.5, total: 1, message: 'half' })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { progress: { done: 0.5, total: 1, message: 'half' } },
    ])
  })

  it('survives totals that are none', () => {
    const { shown } = scene('people', true)
    shown.tell({ progress: 3, total: 0 })
    expect(shown.text).toBe('3')
  })
})
