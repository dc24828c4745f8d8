import { afterEach, describe, expect, it } from 'vitest'
import { createDialler } from '../../src/channel/dialling/dial.ts'
import { KnownRevocations } from '../../src/channel/membership/known-revocations.ts'
import { sealRevocations } from '../../src/channel/membership/revocations.ts'
import { CtError } from '../../src/core/errors.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { systemClock } from '../../src/core/time.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { closeAll, closing, holders, member, serve } from './members.ts'
import { OPERATOR, showing, TRUST } from './test-channel.ts'

afterEach(closeAll)

/** What a server that shows no membership gets of a caller that was given its key and belongs to a channel. */
async function earlyTexts(removed: (server: HolderId) => readonly HolderId[]) {
  const caller = showing(member('call'))
  const self = member('serve')
  const serving = await serve({ self, trust: holders(caller) })
  const revocations = new KnownRevocations({ ...TRUST, clock: systemClock })
  const body = {
    channel: TRUST.channel,
    sequence: u64(1),
    issuedAt: unixSeconds(systemClock),
    removed: removed(self.holder.id),
  }
  revocations.learn(sealRevocations(body, OPERATOR.secret))
  const dialler = await createDialler(caller, systemClock, {
    ...TRUST,
    broker: [{ host: '127.0.0.1', port: 1, transport: 'tcp' }],
    relay: [],
    relayOnly: false,
    random: Math.random,
    onState: () => {},
    revocations,
  })
  closing(() => dialler.close())
  const target = { addresses: [serving.address], trust: { channel: TRUST, ...holders(self) } }
  const session = await dialler.open(target, AbortSignal.timeout(5_000))
  session.send({ text: '"early"' }).catch(() => {})
  const outcome: unknown = await session.ready.catch((error: unknown) => error)
  const texts: string[] = []
  for (const taken of serving.sessions) {
    taken.receive((message) => texts.push(message.kind))
    await taken.closed
  }
  return { outcome, texts }
}

describe('a server whose key was given before its channel was asked', () => {
  it('is asked behind the hello, and its session ends all the same when it shows no membership', async () => {
    const { outcome, texts } = await earlyTexts(() => [])
    expect(texts).toEqual(['text'])
    expect(outcome).toMatchObject({ code: 'ERR_GRANT_INVALID', detail: { category: 'not-member' } })
  })

  it('is asked nothing before that when it is known to be removed', async () => {
    const { outcome, texts } = await earlyTexts((server) => [server])
    expect(texts).toEqual([])
    expect(outcome).toBeInstanceOf(CtError)
  })
})
