import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KEEP_MS, KeptLists, type RoomName } from '../../../src/channel/broker/kept-lists.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { listOf } from './lists.ts'
import { OPERATOR } from './raw-member.ts'

const channel = (name: string): ChannelId => name.padEnd(64, 'c') as ChannelId
const room = (name: string): RoomName => ({ operator: OPERATOR.id, channel: channel(name) })
const [A, B, C] = ['a', 'b', 'c'].map((name) => name.repeat(64) as HolderId) as [HolderId, HolderId, HolderId]

interface Brought {
  readonly removed?: readonly HolderId[]
  readonly source?: string
  readonly now?: number
}

function keeping(limits = { lists: 6, holders: 20 }, live = new Set<string>()) {
  const kept = new KeptLists((name) => live.has(name.channel[0] ?? ''), limits)
  /** Each from an address of its own, unless the test says otherwise. */
  const keep = (name: string, sequence = 1, { removed = [], source = name, now = 0 }: Brought = {}): boolean => {
    const list = listOf(sequence, removed, { channel: channel(name) })
    return kept.keep(OPERATOR.id, { list, successions: [] }, { source, now })
  }
  const there = (): string => [...'0123456789'].filter((name) => kept.newest(room(name)) !== undefined).join('')
  return { kept, keep, there, live }
}

describe('the lists that a broker keeps', () => {
  it('give way to later ones alone', () => {
    const { kept, keep } = keeping()
    expect([keep('1', 2, { removed: [A] }), keep('1', 1, { removed: [B] })]).toEqual([true, false])
    expect([kept.sequence(room('1')), [A, B].filter(kept.isRemoved(room('1')))]).toEqual([2n, [A]])
    keep('1', 3, { removed: [B] })
    expect([kept.sequence(room('1')), [A, B].filter(kept.isRemoved(room('1')))]).toEqual([3n, [B]])
    expect(kept.isRemoved(room('2'))(A)).toBe(false)
  })

  it('are so many, and of sources that hold as much the longest unused makes way', () => {
    const { keep, there } = keeping({ lists: 3, holders: 20 })
    for (const name of '1234') expect(keep(name)).toBe(true)
    expect(there()).toBe('234')
  })

  it('name so many holders in all', () => {
    const { keep, there } = keeping({ lists: 9, holders: 4 })
    keep('1', 1, { removed: [A] })
    keep('2', 1, { removed: [A, B] })
    keep('3', 1, { removed: [A, B] })
    expect(there()).toBe('13')
  })

  it('of channels with members present stay, whoever else comes', () => {
    const { keep, there } = keeping({ lists: 3, holders: 20 }, new Set('1'))
    for (const name of '1234') keep(name)
    expect(there()).toBe('134')
  })

  it('outlive the last member by a day', () => {
    const { kept, keep, there, live } = keeping(undefined, new Set('1'))
    keep('1')
    keep('2')
    kept.sweep(KEEP_MS - 1)
    expect(there()).toBe('12')
    kept.sweep(KEEP_MS)
    expect(there()).toBe('1')
    live.clear()
    kept.sweep(2 * KEEP_MS - 1)
    expect(there()).toBe('1')
    kept.sweep(2 * KEEP_MS)
    expect([there(), kept.size]).toEqual(['', 0])
  })
})

describe('made-up lists of one source', () => {
  const flood = { source: 'flood' }

  it('push out none of others, however many they are', () => {
    const { keep, there } = keeping()
    for (const name of '123') keep(name)
    for (const name of '456789') expect(keep(name, 1, flood)).toBe(true)
    expect(there()).toBe('123789')
  })

  it('make way for those of others before any other', () => {
    const { keep, there } = keeping()
    keep('1')
    for (const name of '234') keep(name, 1, flood)
    for (const name of '5678') expect(keep(name)).toBe(true)
    expect(there()).toBe('145678')
  })

  it('push out none of others by the holders that they name, nor by growing', () => {
    const { keep, there } = keeping({ lists: 9, holders: 6 })
    keep('1', 1, { removed: [A, B, C] })
    keep('2', 1, { removed: [A, B], ...flood })
    keep('3', 1, flood)
    expect(keep('3', 2, { removed: [A, B, C], ...flood })).toBe(true)
    expect(there()).toBe('13')
    expect(keep('4', 1, { removed: [A, B, C], ...flood })).toBe(true)
    expect(there()).toBe('14')
  })

  it('are refused beyond half of all there may be, once members are present in their channels', () => {
    const { keep, there } = keeping(undefined, new Set('1234'))
    for (const name of '123') keep(name, 1, flood)
    expect(keep('4', 1, flood)).toBe(false)
    for (const name of '567') expect(keep(name)).toBe(true)
    expect(there()).toBe('123567')
  })
})

describe('a list for which there is no room', () => {
  it('is refused while members are present in all channels, and pushes nothing out', () => {
    const { keep, there, live } = keeping({ lists: 4, holders: 6 }, new Set('12'))
    keep('1', 1, { removed: [A, B] })
    keep('2', 1, { removed: [A, B] })
    keep('3', 1, { removed: [A] })
    expect(keep('4', 1, { removed: [A, B, C] })).toBe(false)
    expect(there()).toBe('123')
    live.delete('1')
    expect(keep('4', 1, { removed: [A, B, C] })).toBe(false)
    expect(keep('4', 1, { removed: [A, B] })).toBe(true)
    expect(there()).toBe('234')
  })

  it('leaves the one before it in its place', () => {
    const { kept, keep } = keeping({ lists: 4, holders: 4 }, new Set('12'))
    keep('1', 1, { removed: [A, B] })
    keep('2', 1, { removed: [A] })
    expect(keep('2', 2, { removed: [A, B, C] })).toBe(false)
    expect(kept.sequence(room('2'))).toBe(1n)
    expect(keep('2', 2, { removed: [B, C] })).toBe(true)
    expect([A, B].filter(kept.isRemoved(room('2')))).toEqual([B])
  })

  it('counts for whoever brought it last', () => {
    const { keep, there } = keeping({ lists: 4, holders: 20 })
    keep('1', 1, { source: 'other' })
    keep('2', 1, { source: 'other' })
    keep('1', 2, { source: 'one' })
    keep('3', 1, { source: 'other' })
    expect(there()).toBe('123')
    keep('4', 1, { source: 'other' })
    expect(there()).toBe('134')
  })
})

describe('whatever is brought', () => {
  it('keeps the bounds, in all and of one source, and the lists of channels with members present', () => {
    const holders = Array.from({ length: 5 }, (_, index) => String(index).repeat(64) as HolderId)
    const brought = fc.record({
      name: fc.constantFrom(...'0123456789'),
      count: fc.nat(5),
      source: fc.constantFrom('x', 'y', 'z'),
      live: fc.subarray([...'0123456789'], { maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(brought, { maxLength: 30 }), (all) => {
        const live = new Set<string>()
        const { kept, keep, there } = keeping({ lists: 5, holders: 9 }, live)
        const of = new Map<string, { readonly source: string; readonly count: number }>()
        for (const [index, { name, count, source, live: now }] of all.entries()) {
          live.clear()
          for (const one of now) live.add(one)
          const before = there()
          const taken = keep(name, index + 1, { removed: holders.slice(0, count), source })
          if (taken) of.set(name, { source, count })
          else expect(there()).toBe(before)
          const held = [...there()].map((one) => of.get(one) ?? { source: '', count: 0 })
          const sum = (some: typeof held): number => some.reduce((total, one) => total + one.count, 0)
          expect([kept.size <= 5, sum(held) <= 9]).toEqual([true, true])
          const own = held.filter((one) => one.source === source)
          if (taken) expect([own.length <= 3, sum(own) <= 5]).toEqual([true, true])
          expect([...before].filter((one) => live.has(one) && !there().includes(one))).toEqual([])
        }
      }),
    )
  })
})
