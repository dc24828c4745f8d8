import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connectAhead } from '../../src/channel/node/connect-ahead.ts'
import { anyCuts, fakeStream, pieces } from './fake-stream.ts'

// `HopMessage`s as @libp2p/circuit-relay-v2 writes them.
const CONNECT = Buffer.from('09080112050a03616263', 'hex')
const RESERVE = Buffer.from('020800', 'hex')
const OK = Buffer.from('0408022864', 'hex')
const OK_WITH_LIMIT = Buffer.from('0d0802220708b409108080082864', 'hex')
const REFUSALS = [
  { word: '05080228cc01', status: 'NO_RESERVATION' },
  { word: '05080228ca01', status: 'PERMISSION_DENIED' },
  { word: '05080228cb01', status: 'CONNECTION_FAILED' },
  { word: '050802289003', status: 'MALFORMED_MESSAGE' },
  { word: '05080228e707', status: '999' },
  { word: '020802', status: 'undefined' },
]

function asking(request: Buffer) {
  const fake = fakeStream()
  connectAhead(fake.stream)
  fake.stream.send(request)
  return fake
}

describe('a relay that is asked for a connection', () => {
  for (const { name, word } of [
    { name: 'alone', word: OK },
    { name: 'with the limits of the connection', word: OK_WITH_LIMIT },
  ]) {
    it(`is spoken through at once, and its word ${name} goes no further`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 64 }), anyCuts, (payload, cuts) => {
          const { said, arrives, sent, delivered, ends } = asking(CONNECT)
          expect(said()).toEqual(OK)
          expect(sent()).toEqual(CONNECT)
          arrives(pieces(Buffer.concat([word, payload]), cuts))
          expect(ends).toEqual([])
          expect(delivered()).toEqual(Buffer.from(payload))
        }),
      )
    })
  }

  for (const { word, status } of REFUSALS) {
    it(`ends the stream with its status ${status}`, () => {
      fc.assert(
        fc.property(anyCuts, (cuts) => {
          const { arrives, delivered, ends } = asking(CONNECT)
          arrives(pieces(Buffer.from(word, 'hex'), cuts))
          expect(ends.map(({ message }) => message)).toEqual([`failed to connect via relay with status ${status}`])
          expect(delivered()).toHaveLength(0)
        }),
      )
    })
  }

  it('ends the stream, or is waited for, whatever else it says', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), anyCuts, (bytes, cuts) => {
        fc.pre(!(bytes.length > 4 && bytes[0] !== undefined && Buffer.from(bytes).includes(Buffer.from('2864', 'hex'))))
        const { arrives, delivered } = asking(CONNECT)
        arrives(pieces(Buffer.from(bytes), cuts))
        expect(delivered()).toHaveLength(0)
      }),
    )
  })

  it('is not waited for without end', () => {
    const { arrives, ends } = asking(CONNECT)
    arrives([Buffer.from('ffff7f', 'hex')])
    expect(ends.map(({ message }) => message)).toEqual([expect.stringMatching(/found a message of 2097151 bytes/)])
  })
})

describe('a relay that is asked for anything else', () => {
  it('is heard before it is spoken to again', () => {
    const { said, arrives, delivered, ends } = asking(RESERVE)
    expect(said()).toHaveLength(0)
    arrives([OK])
    expect(delivered()).toEqual(OK)
    expect(ends).toEqual([])
  })
})
