import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/core/bytes.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey, sign, verify } from '../../src/core/keys.ts'
import vectors from '../vectors/keys.json' with { type: 'json' }

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
const secretOf = (text: string): SecretKey => new SecretKey(hex(text))

describe('public keys', () => {
  for (const { name, kind, secret, public: expected } of vectors.publicKeys) {
    it(`are those of ${name}`, () => {
      const key = kind === 'X25519' ? noiseKey(secretOf(secret)) : holderKey(secretOf(secret))
      expect(key.id).toBe(expected)
    })
  }
})

describe('sign and verify', () => {
  for (const { name, secret, public: publicKey, message, signature } of vectors.signatures) {
    it(`agree with ${name}`, () => {
      expect(holderKey(secretOf(secret)).id).toBe(publicKey)
      expect(toHex(sign(hex(message), secretOf(secret)))).toBe(signature)
      expect(verify(hex(signature), hex(message), hex(publicKey))).toBe(true)
    })

    it(`refuse ${name} with any one bit of signature or key changed`, () => {
      for (let bit = 0; bit < 512; bit += 7) {
        expect(verify(flip(hex(signature), bit), hex(message), hex(publicKey))).toBe(false)
      }
      for (let bit = 0; bit < 256; bit += 5) {
        expect(verify(hex(signature), hex(message), flip(hex(publicKey), bit))).toBe(false)
      }
      expect(verify(hex(signature), hex(`${message}00`), hex(publicKey))).toBe(false)
    })

    it(`refuse ${name} with S raised by the group order`, () => {
      expect(verify(raiseS(hex(signature)), hex(message), hex(publicKey))).toBe(false)
    })
  }

  for (const key of smallOrderKeys()) {
    it(`refuse the small-order key ${key.slice(0, 6)}…${key.slice(-4)} for every message`, () => {
      const accepted = smallOrderKeys().flatMap((point) =>
        Array.from({ length: 16 }, (_, message) =>
          verify(hex(point + '00'.repeat(32)), Uint8Array.of(message), hex(key)),
        ),
      )
      expect(accepted).not.toContain(true)
    })
  }

  const malformed = [
    { name: 'an empty signature', signature: 0, key: 32 },
    { name: 'a signature of 63 bytes', signature: 63, key: 32 },
    { name: 'a signature of 65 bytes', signature: 65, key: 32 },
    { name: 'an empty key', signature: 64, key: 0 },
    { name: 'a key of 31 bytes', signature: 64, key: 31 },
    { name: 'a key that is no point', signature: 64, key: 32 },
  ]
  for (const { name, signature, key } of malformed) {
    it(`refuse ${name} without throwing`, () => {
      expect(verify(new Uint8Array(signature).fill(1), new Uint8Array(1), new Uint8Array(key).fill(0xfe))).toBe(false)
    })
  }
})

describe('SecretKey', () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => 0xa0 + index)
  const key = new SecretKey(bytes)
  const holder = holderKey(key)
  const printed: readonly { name: string; text: string }[] = [
    { name: 'String', text: String(key) },
    { name: 'a template', text: `${String(key)}` },
    { name: 'concatenation', text: [key, ''].join('') },
    { name: 'JSON', text: JSON.stringify({ deep: { holder } }) },
    { name: 'inspect', text: inspect(key) },
    { name: 'inspect of a nesting object', text: inspect({ deep: [{ holder }] }, { depth: 9, showHidden: true }) },
    { name: 'inspect without custom printers', text: inspect(key, { customInspect: false, showHidden: true }) },
    { name: 'its enumerable parts', text: JSON.stringify(Object.entries(key)) },
    { name: 'a structured clone', text: inspect(structuredClone(key)) },
    { name: 'the message of an error', text: inspect(new Error(String(key), { cause: { holder } })) },
  ]
  for (const { name, text } of printed) {
    it(`does not show in ${name}`, () => {
      expect(text.toLowerCase()).not.toMatch(/a0.?a1|160, ?161|oKGio/i)
    })
  }

  it('is neither the array it was made of nor the one it reveals', () => {
    const source = Uint8Array.from(bytes)
    const copy = new SecretKey(source)
    source.fill(0)
    copy.reveal().fill(0)
    expect(copy.reveal()).toEqual(bytes)
  })

  for (const length of [0, 31, 33, 64]) {
    it(`is not made of ${length} bytes`, () => expect(() => new SecretKey(new Uint8Array(length))).toThrow(RangeError))
  }

  it('is new each time it is generated', () => {
    expect(SecretKey.generate().reveal()).not.toEqual(SecretKey.generate().reveal())
    expect(generateInstanceId()).not.toBe(generateInstanceId())
    expect(generateInstanceId()).toMatch(/^[0-9a-f]{32}$/)
  })
})

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return bytes
}

/** The same signature with S + L for S: the same number modulo the group order, and not canonical. */
function raiseS(signature: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  let raised = [...signature.subarray(32)].reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n) + order
  for (let index = 32; index < 64; index += 1) {
    signature[index] = Number(raised & 0xffn)
    raised >>= 8n
  }
  return signature
}

/** The eight points whose order divides the cofactor, and their non-canonical encodings. */
function smallOrderKeys(): readonly string[] {
  const ones = 'ff'.repeat(30)
  return [
    `01${'00'.repeat(31)}`,
    `01${'00'.repeat(30)}80`,
    `ec${ones}7f`,
    `ec${ones}ff`,
    '00'.repeat(32),
    `${'00'.repeat(31)}80`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    `ed${ones}7f`,
    `ed${ones}ff`,
    `ee${ones}7f`,
    `ee${ones}ff`,
  ]
}
