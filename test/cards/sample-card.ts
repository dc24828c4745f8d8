import fc from 'fast-check'
import { type AgentCard } from '../../src/cards/index.ts'
import { type ErrorCode, toCtError } from '../../src/core/errors.ts'
import { type CellId, type ChannelId } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'

export const NOW = u64(1_800_000_000)

export const holder: HolderKey = holderKey(new SecretKey(new Uint8Array(32).fill(7)))
export const stranger: HolderKey = holderKey(new SecretKey(new Uint8Array(32).fill(8)))

export const sample: AgentCard = {
  holder: holder.id,
  roleTags: ['coder', 'prüfer'],
  skills: [{ id: 'review', description: 'reads code, finds faults 🦀', examples: ['look at "this"'] }],
  cells: ['ce'.repeat(32) as CellId],
  channels: ['c1'.repeat(32) as ChannelId],
  issuedAt: NOW,
  expiresAt: u64(NOW + 3_600n),
}

const hex32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'))
const anyU64 = fc.oneof(fc.constantFrom(0n, 2n ** 53n, 2n ** 53n + 1n, U64_MAX), fc.bigInt(0n, U64_MAX)).map(u64)

/** Cards of the sample holder; with few texts to choose from, two of them are often nearly the same. */
export function anyCard(text: fc.Arbitrary<string>): fc.Arbitrary<AgentCard> {
  const texts = fc.array(text, { maxLength: 3 })
  return fc.record({
    holder: fc.constant(holder.id),
    roleTags: texts,
    skills: fc.array(fc.record({ id: text, description: text, examples: texts }), { maxLength: 3 }),
    cells: fc.array(fc.oneof(fc.constant('ce'.repeat(32)), hex32) as fc.Arbitrary<CellId>, { maxLength: 2 }),
    channels: fc.array(fc.oneof(fc.constant('ce'.repeat(32)), hex32) as fc.Arbitrary<ChannelId>, { maxLength: 2 }),
    issuedAt: anyU64,
    expiresAt: anyU64,
  })
}

/** The code of the error that it throws. */
export function codeOf(run: () => unknown): ErrorCode | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return toCtError(error).code
  }
}

/** The code of the error that it rejects with. */
export function rejection(work: Promise<unknown>): Promise<ErrorCode | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => toCtError(error).code,
  )
}

export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes)
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return flipped
}
