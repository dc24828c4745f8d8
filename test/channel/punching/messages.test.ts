import { encode } from 'cborg'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodePunch,
  MAX_NAMED,
  MAX_PUNCH_BYTES,
  type PunchMessage,
  parsePunch,
} from '../../../src/channel/punching/messages.ts'
import { MAX_ROUND_MS } from '../../../src/channel/punching/plan.ts'

const messages: readonly PunchMessage[] = [
  { kind: 'here', seen: { host: '203.0.113.5', port: 4_000 }, isOpen: true, at: [{ host: '192.168.1.2', port: 1 }] },
  { kind: 'here', seen: { host: '2001:db8::1', port: 0 }, isOpen: false, at: [] },
  { kind: 'here', isOpen: false, at: [{ host: '::1', port: 65_535 }] },
  { kind: 'go', round: 'cross', ms: 500 },
  { kind: 'go', round: 'receive', ms: 0 },
]

describe('a punch message', () => {
  it.each(messages)('is read as it was written: %j', (message) => {
    const bytes = encodePunch(message)
    expect(bytes.length).toBeLessThan(MAX_PUNCH_BYTES)
    expect(parsePunch(bytes)).toEqual(message)
  })

  it('keeps within its size, however many addresses a machine has', () => {
    const at = Array.from({ length: 40 }, () => ({
      host: 'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255',
      port: 65_535,
    }))
    const bytes = encodePunch({ kind: 'here', isOpen: false, at })
    expect(bytes.length).toBeLessThan(MAX_PUNCH_BYTES)
    expect(parsePunch(bytes)).toMatchObject({ at: at.slice(0, MAX_NAMED) })
  })

  it('cannot make a round last longer than this side allows', () => {
    expect(parsePunch(encode({ t: 'go', round: 'cross', ms: 1e9 }))).toMatchObject({ ms: MAX_ROUND_MS })
  })

  it.each([{ t: 'go', round: 'later', ms: 1 }, { t: 'more' }, {}])('of an unknown kind is passed over: %j', (value) => {
    expect(parsePunch(encode(value))).toBeUndefined()
  })

  it.each([
    ['no map', encode([1])],
    ['no CBOR', new Uint8Array([0xff])],
    ['a time that is none', encode({ t: 'go', round: 'cross', ms: -1 })],
    ['a place that is none', encode({ t: 'here', seen: 'here', open: false, at: [] })],
    ['no addresses', encode({ t: 'here', open: false })],
    ['too many addresses', encode({ t: 'here', open: false, at: Array(MAX_NAMED + 1).fill('192.0.2.1:1') })],
    ['an address that is none', encode({ t: 'here', open: false, at: [7] })],
  ])('is refused that is %s', (_, bytes) => {
    expect(() => parsePunch(bytes)).toThrowError(expect.objectContaining({ code: 'ERR_PROTOCOL' }))
  })

  it('of whatever bytes is read or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        try {
          parsePunch(bytes)
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_PROTOCOL' })
        }
      }),
    )
  })
})
