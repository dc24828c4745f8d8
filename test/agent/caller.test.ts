import { describe, expect, it } from 'vitest'
import { type CallerOptions, openCaller, waitingCaller } from '../../src/agent/calling/caller.ts'
import { LinkNotices } from '../../src/agent/calling/link-notices.ts'
import { type SelfDescription, type Session } from '../../src/channel/index.ts'
import { CtError } from '../../src/core/errors.ts'
import { systemClock } from '../../src/core/time.ts'
import { silentLog } from '../silent-log.ts'
import { fakeIo } from './fake-io.ts'

/** A session with a peer that says nothing; its goodbye leaves when the test says so. */
function quietSession() {
  const closed = Promise.withResolvers<{ reason: CtError; final: boolean }>()
  const left = Promise.withResolvers<void>()
  const session = {
    peer: { holder: 'ab'.repeat(32) },
    ready: Promise.resolve({}),
    isReady: true,
    vitals: {},
    closed: closed.promise,
    finished: left.promise,
    sendLimitBytes: 1_000,
    receiveLimitBytes: 1_000,
    peerInFlight: 1,
    send: () => Promise.resolve(),
    receive: () => {},
    watch: () => {},
    end: (reason: CtError) => closed.resolve({ reason, final: true }),
  }
  return { session: session as unknown as Session, goodbyeLeaves: left.resolve }
}

function options(session: Session, reconnect: boolean): CallerOptions {
  return {
    self: { run: '00'.repeat(16) } as unknown as SelfDescription,
    connect: () => Promise.resolve({ open: () => Promise.resolve(session), close: () => Promise.resolve() }),
    reconnect,
    timeoutMs: 60_000,
    label: 'test',
  }
}

const NEVER = new AbortController().signal

describe('a caller', () => {
  for (const reconnect of [true, false]) {
    it(`is finished when its goodbye has left, not before${reconnect ? '' : ', also on one link'}`, async () => {
      const { io } = fakeIo()
      const context = { io, clock: systemClock, log: silentLog, random: Math.random }
      const { session, goodbyeLeaves } = quietSession()
      const caller = await (reconnect
        ? waitingCaller(context, options(session, true))
        : openCaller(context, options(session, false), NEVER))
      const events: string[] = []
      const finished = caller.finish().then(() => events.push('finished'))
      await new Promise(setImmediate)
      events.push('goodbye')
      goodbyeLeaves()
      await finished
      expect(events).toEqual(['goodbye', 'finished'])
    })
  }
})

describe('LinkNotices', () => {
  it('says the first failure, every change of its code, and when the link is back', () => {
    const { io, stderr } = fakeIo()
    const notices = new LinkNotices(io, 'ct-agent')
    notices.connected()
    const away = new CtError('ERR_PEER_UNREACHABLE', 'connection refused')
    const busy = new CtError('ERR_PEER_BUSY', 'come again')
    for (const error of [away, away, busy, busy, away]) notices.failed(error)
    notices.connected()
    notices.lost(new CtError('ERR_LINK_LOST', 'the connection broke'))
    for (const error of [away, away]) notices.failed(error)
    notices.connected()
    expect(stderr.text.trimEnd().split('\n')).toEqual([
      'ct-agent: cannot connect, trying again (ERR_PEER_UNREACHABLE: connection refused)',
      'ct-agent: cannot connect, trying again (ERR_PEER_BUSY: come again)',
      'ct-agent: cannot connect, trying again (ERR_PEER_UNREACHABLE: connection refused)',
      'ct-agent: connected again',
      'ct-agent: session ended (ERR_LINK_LOST: the connection broke)',
      'ct-agent: cannot connect, trying again (ERR_PEER_UNREACHABLE: connection refused)',
      'ct-agent: connected again',
    ])
  })
})
