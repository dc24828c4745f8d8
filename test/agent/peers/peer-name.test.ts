import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultNames, looksLikeTicket, parsePeerName } from '../../../src/agent/peers/peer-name.ts'
import { formatTicket } from '../../../src/channel/index.ts'
import { SERVER, ticketPeer } from './peers.ts'

describe('parsePeerName', () => {
  const good = ['bob', 'Bob', ' bob ', 'b', '7', 'agent.example.org', 'a-b_c.d', 'x'.repeat(32), 'ctx1', 'console']
  for (const text of good) {
    it(`takes ${JSON.stringify(text)} in lower case`, () => {
      expect(parsePeerName(text)).toEqual({ value: text.trim().toLowerCase() })
    })
  }

  const bad: readonly (readonly [string, RegExp])[] = [
    ['', /1 to 32 characters, found 0/],
    ['x'.repeat(33), /1 to 32 characters, found 33/],
    ['../bob', /another character/],
    ['bob/x', /another character/],
    ['bob\\x', /another character/],
    ['.bob', /another character/],
    ['bob.', /another character/],
    ['-bob', /another character/],
    ['@bob', /another character/],
    ['bob smith', /another character/],
    ['bob\u0000', /another character/],
    ['bøb', /another character/],
    ['ct1abc', /begin like a ticket/],
    ['CT9', /begin like a ticket/],
    ['con', /device/],
    ['NUL.txt', /device/],
    ['com1', /device/],
  ]
  for (const [text, problem] of bad) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(parsePeerName(text)).toEqual({ problem: expect.stringMatching(problem) })
    })
  }

  it('yields names that are safe as names of files, and no ticket, whatever is typed', () => {
    const near = fc.stringMatching(/^[a-zA-Z0-9._@/-]{0,40}$/)
    fc.assert(
      fc.property(fc.oneof(fc.string(), near, fc.constantFrom('ct1', 'con', '..', '-')), (text) => {
        const parsed = parsePeerName(text)
        if ('problem' in parsed) {
          if (text.length > 8) expect(parsed.problem).not.toContain(text)
          return
        }
        const name: string = parsed.value
        expect(name).toMatch(/^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?$/)
        expect(looksLikeTicket(name)).toBe(false)
        expect(parsePeerName(name.toUpperCase())).toEqual(parsed)
      }),
    )
  })
})

it('a ticket in any form looks like one', () => {
  const { ticket } = ticketPeer()
  for (const text of [ticket, ticket.toUpperCase(), `  ${ticket}`, '@file', '-', 'ct2abc']) {
    expect([text, looksLikeTicket(text)]).toEqual([text, true])
  }
  expect(looksLikeTicket(formatTicket({ holder: SERVER.id, addresses: [{ host: '::1', port: 1 }] }))).toBe(true)
})

it('a peer without a name gets one of its key, and a longer one where that is taken', () => {
  const names = defaultNames(SERVER.id)
  expect(names[0]).toBe(`peer-${SERVER.id.slice(0, 6)}`)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(parsePeerName(name)).toEqual({ value: name })
})
