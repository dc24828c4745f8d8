/**
 * What holds of every example of `docs/artefacts.md`, as tests.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ArtefactKind, type Sealed, seal } from '../src/core/artefact.ts'
import { type ExactObject, writeExactJson } from '../src/core/exact-json.ts'
import { type HolderKey } from '../src/core/keys.ts'
import { bytesIn, document, domainBytes, example, fieldBytes, objectIn, rowsOf } from './artefacts-document.ts'

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Examples in JSON: what the document shows, what it says is signed, and who signs. */
interface JsonExample<Body> {
  readonly name: string
  readonly heading: string
  readonly domain: string
  readonly kind: ArtefactKind<Body>
  readonly body: (json: string) => Body
  /** Through the program and back. */
  readonly again: (json: string) => ExactObject
  readonly signers: Readonly<Record<string, HolderKey>>
}

/** Adds the tests of one. */
export function describeJson<Body>({ name, heading, domain, kind, body, again, signers }: JsonExample<Body>): void {
  describe(`the ${kind.name} in docs/artefacts.md`, () => {
    const shown = objectIn(`${name}-json`)
    const read = body(example(`${name}-json`))

    it('has the members that the program writes, in its order', () => {
      expect(writeExactJson(again(example(`${name}-json`)))).toBe(writeExactJson(shown))
      expect(rowsOf(heading).map(([member]) => member)).toEqual(Object.keys(shown))
    })

    it('is signed as the tables say and as the program does', () => {
      expect(hexOf(kind.preimage(read, kind.domain))).toBe(example(name))
      expect(hexOf(Buffer.concat([domainBytes(domain), fieldBytes(heading, shown)]))).toBe(example(name))
    })

    for (const [member, key] of Object.entries(signers)) {
      it(`has the ${member} that its key makes`, () =>
        expect(shown[member]).toBe(seal(kind, read, key.secret).signature))
    }
  })
}

/** Examples of what has no JSON. */
interface BytesExample<Body> {
  readonly name: string
  readonly domain: string
  readonly kind: ArtefactKind<Body>
  readonly body: Body
  readonly signer: HolderKey
  readonly wire?: {
    readonly encode: (sealed: Sealed<Body>) => Uint8Array
    readonly decode: (bytes: Uint8Array) => Sealed<Body>
  }
}

/** Adds the tests of one. */
export function describeBytes<Body>({ name, domain, kind, body, signer, wire }: BytesExample<Body>): void {
  const sealed = seal(kind, body, signer.secret)

  describe(`the example ${name} in docs/artefacts.md`, () => {
    it('is signed as shown, under the domain of the table', () => {
      const bytes = Buffer.from(kind.preimage(body, kind.domain))
      const text = example(name)
      expect(text.startsWith('ct-') ? bytes.toString() : hexOf(bytes)).toBe(text)
      const begin = domainBytes(domain)
      expect(hexOf(bytes.subarray(0, begin.length))).toBe(hexOf(begin))
    })

    it('comes in the form that is shown', () => {
      if (wire === undefined) {
        expect(example(`${name}-signature`)).toBe(sealed.signature)
        return
      }
      expect(hexOf(wire.encode(sealed))).toBe(example(`${name}-wire`))
      expect(wire.decode(bytesIn(`${name}-wire`))).toEqual({ body, signature: sealed.signature })
      expect(document).toContain(
        `binary form has ${bytesIn(`${name === 'invitation' ? 'grant' : name}-wire`).length} bytes`,
      )
    })
  })
}
