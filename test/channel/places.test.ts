import { describe, expect, it } from 'vitest'
import { Places } from '../../src/channel/listening/places.ts'
import { type Hello } from '../../src/channel/session/hello.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { type CtError } from '../../src/core/errors.ts'
import { type HolderId, type InstanceId } from '../../src/core/ids.ts'
import { type LinkEnd } from '../../src/core/link.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { settle } from '../mcp/port-pair.ts'

const [ANN, BOB] = ['aa', 'bb'].map((byte) => byte.repeat(32)) as [HolderId, HolderId]

function hello(run: string, more: Partial<Hello> = {}): Hello {
  const limits = { messageBytes: 1, inFlight: 1, idleSeconds: 0 }
  return {
    version: 1,
    mode: 'call',
    run: run.repeat(16) as InstanceId,
    limits,
    agent: 'test',
    calls: 'resumed',
    ...more,
  }
}

/** A house with so many places, and what comes of whoever asks for one: its end, once it has ended. */
function house(maxSessions: number, peerShare = maxSessions) {
  const clock = new FakeClock()
  const sessions = new Set<Session>()
  const places = new Places(sessions, { maxSessions, peerShare }, clock)
  const come = (holder: HolderId, greeting: Hello): { end?: CtError; leave: () => void } | CtError['code'] => {
    const refusal = places.refusal(holder, greeting)
    if (refusal !== undefined) return refusal.code
    const closed = Promise.withResolvers<LinkEnd>()
    const guest: { end?: CtError; leave: () => void } = { leave: () => sessions.delete(session) && closed.resolve(END) }
    const session = {
      peer: { holder },
      isReady: true,
      closed: closed.promise,
      end: (reason: CtError) => {
        guest.end = reason
        guest.leave()
      },
    } as unknown as Session
    sessions.add(session)
    places.take(session, greeting)
    return guest
  }
  return { clock, sessions, places, come }
}

const END = {} as LinkEnd

describe('Places', () => {
  it('has as many as it has, and of one peer its share', () => {
    const { come, places } = house(3, 2)
    const guests = [come(ANN, hello('01')), come(ANN, hello('02')), come(ANN, hello('03')), come(BOB, hello('04'))]
    expect(guests.map((guest) => typeof guest)).toEqual(['object', 'object', 'string', 'object'])
    expect(come(BOB, hello('05'))).toBe('ERR_PEER_BUSY')
    expect(places.taken).toBe(3)
  })

  it('lets a run that moves in beside itself, and ends its older session when it does not', async () => {
    const { clock, sessions, come } = house(1)
    const older = come(ANN, hello('01'))
    const newer = come(ANN, hello('01'))
    expect([typeof older, typeof newer, sessions.size]).toEqual(['object', 'object', 2])
    expect(older).not.toHaveProperty('end')
    clock.advance(5_000)
    expect(older).toMatchObject({ end: { code: 'ERR_LINK_CLOSED' } })
    expect(newer).not.toHaveProperty('end')
    await settle()
    expect(sessions.size).toBe(1)
  })

  it('keeps the older session of a run whose newer one was only tried', async () => {
    const { clock, come } = house(1)
    const older = come(ANN, hello('01'))
    const tried = come(ANN, hello('01'))
    if (typeof tried !== 'string') tried.leave()
    await settle()
    clock.advance(60_000)
    expect(older).not.toHaveProperty('end')
    expect(clock.timers).toBe(0)
  })

  it('holds two sessions of one run at most, and one place more than there are', () => {
    const roomy = house(8)
    const guests = [1, 2, 3, 4, 5].map(() => roomy.come(ANN, hello('01')))
    expect(roomy.sessions.size).toBe(2)
    expect(guests.map((guest) => typeof guest !== 'string' && guest.end !== undefined)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    const full = house(1)
    expect([1, 2, 3].map(() => typeof full.come(ANN, hello('01')))).toEqual(['object', 'object', 'string'])
  })

  it.each([
    ['another holder', BOB, hello('01')],
    ['another run', ANN, hello('02')],
    ['a run whose calls end with their session', ANN, { ...hello('01'), calls: undefined } as unknown as Hello],
  ])('takes %s for no older session', (_, holder, greeting) => {
    const { come } = house(1)
    come(ANN, hello('01'))
    expect(come(holder, greeting)).toBe('ERR_PEER_BUSY')
  })
})
