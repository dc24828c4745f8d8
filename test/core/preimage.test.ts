import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/core/bytes.ts'
import { type DomainForm, Preimage } from '../../src/core/preimage.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import vectors from '../vectors/preimage.json' with { type: 'json' }

type Field =
  | { readonly fixed: string }
  | { readonly u64: string }
  | { readonly text: string }
  | { readonly tag: number }
  | { readonly list: readonly string[] }

function add(preimage: Preimage, field: Field): Preimage {
  if ('fixed' in field) return preimage.fixed(Buffer.from(field.fixed, 'hex'), field.fixed.length / 2)
  if ('u64' in field) return preimage.u64(u64(BigInt(field.u64)))
  if ('text' in field) return preimage.text(field.text)
  if ('tag' in field) return preimage.tag(field.tag)
  return preimage.list(field.list, (each, item) => each.text(item))
}

function build(domain: string, fields: readonly Field[], form?: DomainForm): string {
  return toHex(fields.reduce(add, new Preimage(domain, form)).bytes())
}

const unicode = fc.string({ unit: 'grapheme' })
/** Fields of one artefact: what kinds of them follow each other, its domain says. */
const kinds = fc.array(fc.constantFrom('fixed', 'u64', 'text', 'tag', 'list'), { maxLength: 5 })

function valuesOf(names: readonly string[]): fc.Arbitrary<readonly Field[]> {
  return fc.tuple(
    ...names.map((name): fc.Arbitrary<Field> => {
      switch (name) {
        case 'fixed':
          return fc
            .uint8Array({ minLength: 3, maxLength: 3 })
            .map((bytes) => ({ fixed: Buffer.from(bytes).toString('hex') }))
        case 'u64':
          return fc.bigInt({ min: 0n, max: U64_MAX }).map((value) => ({ u64: value.toString() }))
        case 'text':
          return unicode.map((text) => ({ text }))
        case 'tag':
          return fc.nat({ max: 255 }).map((tag) => ({ tag }))
        default:
          return fc.array(unicode, { maxLength: 3 }).map((list) => ({ list }))
      }
    }),
  )
}

describe('Preimage', () => {
  for (const { name, domain, fields, preimage } of vectors.builder) {
    it(`gives the bytes of ${name}`, () => expect(build(domain, fields as readonly Field[])).toBe(preimage))
  }

  const layouts: readonly { name: string; built: Preimage; hex: string }[] = [
    { name: 'the domain alone', built: new Preimage('ab'), hex: '020000006162' },
    { name: 'a bare domain', built: new Preimage('ab', 'bare').text('c'), hex: '61620100000063' },
    { name: 'an empty text', built: new Preimage('a', 'bare').text(''), hex: '6100000000' },
    { name: 'a text by its length in bytes', built: new Preimage('a', 'bare').text('é'), hex: '6102000000c3a9' },
    { name: 'the largest integer', built: new Preimage('a', 'bare').u64(U64_MAX), hex: `61${'ff'.repeat(8)}` },
    {
      name: 'an integer, lowest byte first',
      built: new Preimage('a', 'bare').u64(u64(258)),
      hex: '610201000000000000',
    },
    { name: 'an id in either case', built: new Preimage('a', 'bare').id('aB'.repeat(32)), hex: `61${'ab'.repeat(32)}` },
    {
      name: 'a list after its number of items',
      built: new Preimage('a', 'bare').list([1, 2], (each, item) => each.tag(item)),
      hex: '61020000000102',
    },
    { name: 'an empty list', built: new Preimage('a', 'bare').list([], (each) => each.tag(1)), hex: '6100000000' },
  ]
  for (const { name, built, hex } of layouts) {
    it(`writes ${name}`, () => expect(toHex(built.bytes())).toBe(hex))
  }

  it('gives different fields of one artefact different bytes', () => {
    const pairs = kinds.chain((names) => fc.tuple(valuesOf(names), valuesOf(names)))
    fc.assert(
      fc.property(pairs, fc.constantFrom('framed', 'bare'), ([left, right], form) => {
        expect(build('d', left, form) === build('d', right, form)).toBe(JSON.stringify(left) === JSON.stringify(right))
      }),
      { numRuns: 1_000 },
    )
  })

  it('gives texts cut at different places different bytes', () => {
    fc.assert(
      fc.property(unicode, fc.nat(), fc.nat(), (text, one, other) => {
        const points = [...text]
        const cut = (at: number): readonly Field[] => {
          const place = at % (points.length + 1)
          return [{ text: points.slice(0, place).join('') }, { text: points.slice(place).join('') }]
        }
        const differ = one % (points.length + 1) !== other % (points.length + 1)
        expect(build('d', cut(one)) !== build('d', cut(other))).toBe(differ)
      }),
    )
  })

  it('gives artefacts of different domains different bytes, whatever their fields', () => {
    const artefact = fc.tuple(unicode, kinds.chain(valuesOf))
    fc.assert(
      fc.property(artefact, artefact, ([domain, fields], [otherDomain, otherFields]) => {
        fc.pre(domain !== otherDomain)
        expect(build(domain, fields)).not.toBe(build(otherDomain, otherFields))
        // Where one domain begins with the other, the rest must not pass for a field either.
        const longer = `${domain}${otherDomain}`
        if (longer !== domain) expect(build(domain, [{ text: otherDomain }, ...fields])).not.toBe(build(longer, fields))
      }),
    )
  })

  it('keeps what it was given, whatever becomes of it later', () => {
    const bytes = Uint8Array.of(1, 2)
    const preimage = new Preimage('a', 'bare').fixed(bytes, 2)
    bytes.fill(9)
    expect(toHex(preimage.bytes())).toBe('610102')
    preimage.bytes().fill(9)
    expect(toHex(preimage.bytes())).toBe('610102')
  })

  const refusals: readonly { name: string; add: (preimage: Preimage) => unknown }[] = [
    { name: 'too few bytes', add: (preimage) => preimage.fixed(new Uint8Array(31), 32) },
    { name: 'too many bytes', add: (preimage) => preimage.fixed(new Uint8Array(33), 32) },
    { name: 'an id that is too short', add: (preimage) => preimage.id('ab'.repeat(31)) },
    { name: 'an id that is too long', add: (preimage) => preimage.id('ab'.repeat(33)) },
    { name: 'an id that is no hex', add: (preimage) => preimage.id('é'.repeat(64)) },
    { name: 'half a surrogate pair', add: (preimage) => preimage.text('a\ud800') },
    { name: 'half a surrogate pair as domain', add: () => new Preimage('\udc00', 'framed') },
    { name: 'half a surrogate pair as bare domain', add: () => new Preimage('\udc00', 'bare') },
    { name: 'a tag that is no byte', add: (preimage) => preimage.tag(256) },
    { name: 'a tag below zero', add: (preimage) => preimage.tag(-1) },
    { name: 'a tag that is no integer', add: (preimage) => preimage.tag(0.5) },
    { name: 'an integer of 65 bits', add: (preimage) => preimage.u64((U64_MAX + 1n) as typeof U64_MAX) },
    { name: 'a negative integer', add: (preimage) => preimage.u64(-1n as typeof U64_MAX) },
  ]
  for (const { name, add: addIt } of refusals) {
    it(`refuses ${name}`, () => expect(() => addIt(new Preimage('a'))).toThrow(RangeError))
  }
})
