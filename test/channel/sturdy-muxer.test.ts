import { yamux } from '@chainsafe/libp2p-yamux'
import { type MessageStream } from '@libp2p/interface'
import { describe, expect, it } from 'vitest'
import { quietLogger } from '../../src/channel/node/node.ts'
import { sturdy } from '../../src/channel/node/sturdy-muxer.ts'

/** A connection that is closed for writing, and of which nobody has told the muxer. */
function closedConnection(): MessageStream {
  const send = (): never => {
    throw new Error('cannot write to a stream that is closed')
  }
  const log = quietLogger.forComponent('test')
  return Object.assign(new EventTarget(), { log, send, direction: 'inbound' }) as unknown as MessageStream
}

describe('a muxer on a connection that is closed already', () => {
  it('fails to be ended when it is left to itself', () => {
    const muxer = yamux()().createStreamMuxer(closedConnection())
    expect(() => muxer.abort(new Error('late'))).toThrow(/closed/)
  })

  it('is ended without a word', () => {
    const muxer = sturdy(yamux()()).createStreamMuxer(closedConnection())
    expect(() => muxer.abort(new Error('late'))).not.toThrow()
    expect(muxer.status).not.toBe('open')
  })
})
