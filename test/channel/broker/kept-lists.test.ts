import { describe, expect, it } from 'vitest'
import { KEEP_MS, KeptLists, type RoomName } from '../../../src/channel/broker/kept-lists.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { listOf } from './lists.ts'
import { OPERATOR } from './raw-member.ts'

const channel = (name: string): ChannelId => name.padEnd(64, 'c') as ChannelId
const room = (name: string): RoomName => ({ operator: OPERATOR.id, channel: channel(name) })
const [A, B, C] = ['a', 'b', 'c'].map((name) => name.repeat(64) as HolderId) as [HolderId, HolderId, HolderId]

function keeping(limits = { lists: 3, holders: 10 }, live: ReadonlySet<ChannelId> = new Set()) {
  const kept = new KeptLists((name) => live.has(name.channel), limits)
  const keep = (name: string, sequence: number, removed: readonly HolderId[] = [], now = 0): void =>
    kept.keep(OPERATOR.id, { list: listOf(sequence, removed, { channel: channel(name) }), successions: [] }, now)
  const there = (): string => ['1', '2', '3', '4'].filter((name) => kept.newest(room(name)) !== undefined).join('')
  return { kept, keep, there }
}

describe('the lists that a broker keeps', () => {
  it('give way to later ones alone', () => {
    const { kept, keep } = keeping()
    keep('1', 2, [A])
    keep('1', 1, [B])
    expect([kept.sequence(room('1')), [A, B].filter(kept.isRemoved(room('1')))]).toEqual([2n, [A]])
    keep('1', 3, [B])
    expect([kept.sequence(room('1')), [A, B].filter(kept.isRemoved(room('1')))]).toEqual([3n, [B]])
    expect(kept.isRemoved(room('2'))(A)).toBe(false)
  })

  it('are so many, and the oldest makes way', () => {
    const { keep, there } = keeping()
    for (const name of ['1', '2', '3', '4']) keep(name, 1)
    expect(there()).toBe('234')
  })

  it('name so many holders in all', () => {
    const { keep, there } = keeping({ lists: 9, holders: 4 })
    keep('1', 1, [A])
    keep('2', 1, [A, B])
    keep('3', 1, [A, B])
    expect(there()).toBe('23')
    keep('3', 2, [A, B, C])
    expect(there()).toBe('3')
  })

  it('of channels with members present stay, whoever else comes', () => {
    const { keep, there } = keeping(undefined, new Set([channel('1')]))
    for (const name of ['1', '2', '3', '4']) keep(name, 1)
    expect(there()).toBe('134')
  })

  it('outlive the last member by a day', () => {
    const live = new Set([channel('1')])
    const { kept, keep, there } = keeping(undefined, live)
    keep('1', 1)
    keep('2', 1)
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
