import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/core/bytes.ts'
import { parseAs } from '../../src/core/json-shape.ts'
import { Preimage } from '../../src/core/preimage.ts'
import {
  addService,
  describeService,
  isSameService,
  nameOfService,
  type ServiceKind,
  serviceJson,
  serviceKind,
  serviceKindOf,
} from '../../src/offers/service-kind.ts'
import { narrow, wide } from './arbitraries.ts'

const fixed = [
  { kind: 'CodeGeneration', name: 'code_generation', bytes: '00' },
  { kind: 'SecurityReview', name: 'security_review', bytes: '01' },
  { kind: 'SafetyCheck', name: 'safety_check', bytes: '02' },
  { kind: 'TextGeneration', name: 'text_generation', bytes: '03' },
] as const

const bytesOf = (kind: ServiceKind): string => {
  const preimage = new Preimage('', 'bare')
  addService(preimage, kind)
  return toHex(preimage.bytes())
}

describe('service kinds', () => {
  for (const { kind, name, bytes } of fixed) {
    it(`know ${kind} by its name, and no other text`, () => {
      expect(serviceKindOf(name)).toBe(kind)
      expect(nameOfService(kind)).toBe(name)
      expect(describeService(kind)).toBe(kind)
      expect(serviceJson(kind)).toBe(kind)
      expect(bytesOf(kind)).toBe(bytes)
      for (const other of [kind, name.toUpperCase(), ` ${name}`, `${name} `, name.replace('_', '-')]) {
        expect(serviceKindOf(other)).toEqual({ Custom: other })
      }
    })

    it(`tell ${kind} from custom kinds called like it`, () => {
      for (const custom of [{ Custom: kind }, { Custom: name }]) {
        expect(isSameService(kind, custom)).toBe(false)
        expect(bytesOf(custom)).not.toBe(bytes)
        expect(parseAs(serviceKind, JSON.stringify(custom), 'service')).toEqual(custom)
      }
    })
  }

  for (const name of ['static_analysis', 'toString', '__proto__', 'constructor', '', '"', 'µ']) {
    it(`take ${JSON.stringify(name)} as a custom kind`, () => {
      const kind = { Custom: name }
      expect(serviceKindOf(name)).toEqual(kind)
      expect(nameOfService(kind)).toBe(name)
      expect(serviceJson(kind)).toEqual(kind)
      expect(describeService(kind)).toBe(`Custom(${JSON.stringify(name)})`)
      expect(bytesOf(kind)).toMatch(/^04/)
    })
  }

  it('are the same exactly when their bytes are', () => {
    const kinds = fc.oneof(narrow.service, wide.service)
    fc.assert(
      fc.property(kinds, kinds, (left, right) => {
        expect(isSameService(left, right)).toBe(bytesOf(left) === bytesOf(right))
        expect(isSameService(left, structuredClone(left))).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('come back from JSON as they went in', () => {
    fc.assert(
      fc.property(wide.service, (kind) => {
        expect(parseAs(serviceKind, JSON.stringify(serviceJson(kind)), 'service')).toEqual(kind)
      }),
    )
  })

  it('show no line break of a name', () => {
    expect(describeService({ Custom: 'a\nb\u2028' }).split(/[\n\u2028]/)).toHaveLength(1)
    expect(describeService({ Custom: 'a\u202eb\u200b' })).toBe('Custom("a\\u202eb\\u200b")')
  })
})
