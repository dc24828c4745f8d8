import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyCeiling, refusalLine } from '../../src/agent/serving/ceiling.ts'
import { readServices } from '../../src/mcp/services/index.ts'
import { serviceKindOf } from '../../src/offers/index.ts'

function under(requested: readonly string[], declared: readonly string[]) {
  const { allowed, refused } = applyCeiling(readServices(requested).services, declared.map(serviceKindOf))
  return { allowed: allowed.map(({ name }) => name), refused: refused.map(({ name }) => name) }
}

function lineOf(...names: readonly string[]): string {
  return refusalLine(readServices(names).services)
}

const BEGINNING = 'ct-agent channel: REFUSING'
const REASON = "service tool(s) not in the signed offer's declared catalog (#167):"

describe('applyCeiling', () => {
  it('allows what is declared, in the order in which it was requested', () => {
    expect(under(['b', 'safety_check', 'a'], ['a', 'safety_check', 'c', 'b'])).toEqual({
      allowed: ['b', 'safety_check', 'a'],
      refused: [],
    })
  })

  it('refuses all that is not declared, and everything when nothing is', () => {
    expect(under(['a', 'safety_check'], ['safety_check'])).toEqual({ allowed: ['safety_check'], refused: ['a'] })
    expect(under(['a', 'safety_check'], [])).toEqual({ allowed: [], refused: ['a', 'safety_check'] })
    expect(under([], ['a'])).toEqual({ allowed: [], refused: [] })
  })

  const sameSlug: readonly (readonly [string, string])[] = [
    ['Static-Analysis', 'static_analysis'],
    ['static_analysis', 'Static-Analysis'],
    ['static.analysis', 'static analysis'],
    ['Safety_Check', 'safety_check'],
    ['safety_check', 'SAFETY-CHECK'],
    ['safety check', 'safety_check'],
    ['größe', 'gr__e'],
  ]
  for (const [requested, declared] of sameSlug) {
    it(`does not let ${requested} pass for ${declared}, though both are one tool`, () => {
      expect(readServices([requested, declared]).collisions).toHaveLength(1)
      expect(under([requested], [declared])).toEqual({ allowed: [], refused: [requested] })
    })
  }

  it('does not let a custom service pass for a fixed one', () => {
    expect(under(['SafetyCheck'], ['safety_check'])).toEqual({ allowed: [], refused: ['SafetyCheck'] })
    expect(under(['safety_check'], ['SafetyCheck'])).toEqual({ allowed: [], refused: ['safety_check'] })
  })

  it('parts the request in two by name, whatever the names', () => {
    const names = fc.uniqueArray(
      fc.constantFrom<string>('a', 'A', 'a-b', 'a_b', 'safety_check', 'SafetyCheck', '', '_', 'ß'),
    )
    fc.assert(
      fc.property(names, names, (requested, declared) => {
        const { allowed, refused } = under(requested, declared)
        const { services } = readServices(requested)
        expect([...allowed, ...refused].toSorted()).toEqual(services.map(({ name }) => name).toSorted())
        expect(allowed.every((name) => declared.includes(name))).toBe(true)
        expect(refused.some((name) => declared.includes(name))).toBe(false)
      }),
    )
  })
})

describe('refusalLine', () => {
  const lines: readonly (readonly [readonly string[], string])[] = [
    [['safety_check'], `${BEGINNING} 1 ${REASON} [SafetyCheck]`],
    [['static_analysis'], `${BEGINNING} 1 ${REASON} [Custom("static_analysis")]`],
    [
      ['safety_check', 'static_analysis', 'code_generation', 'security_review', 'text_generation'],
      `${BEGINNING} 5 ${REASON} [SafetyCheck, Custom("static_analysis"), CodeGeneration, SecurityReview, TextGeneration]`,
    ],
    [['SafetyCheck'], `${BEGINNING} 1 ${REASON} [Custom("SafetyCheck")]`],
    [['Static-Analysis'], `${BEGINNING} 1 ${REASON} [Custom("Static-Analysis")]`],
    [['say "hi"'], `${BEGINNING} 1 ${REASON} [Custom("say \\"hi\\"")]`],
    [['a\\b'], `${BEGINNING} 1 ${REASON} [Custom("a\\\\b")]`],
    [["it's"], `${BEGINNING} 1 ${REASON} [Custom("it's")]`],
    [['a\tb'], `${BEGINNING} 1 ${REASON} [Custom("a\\tb")]`],
    [['größe'], `${BEGINNING} 1 ${REASON} [Custom("größe")]`],
  ]
  for (const [names, line] of lines) {
    it(`is that of the original for ${names.join(' and ')}`, () => {
      expect(lineOf(...names)).toBe(line)
    })
  }

  it('is one line, whatever the name', () => {
    expect(lineOf('a\nb\u2028\u202ec')).toMatch(/^[^\n\u2028\u202e]+$/)
  })
})
