import { beforeEach, describe, expect, it } from 'vitest'
import {
  MAX_SHOWN_SUCCESSIONS,
  type SignedSuccession,
  sealSuccession,
} from '../../../src/channel/membership/succession.ts'
import { type Revoked } from '../../../src/channel/rendezvous/messages.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { ALICE, BOB, EXPIRES, Line, start } from './lines.ts'
import { listOf } from './lists.ts'
import { CHANNEL, credentialsOf, identity, OPERATOR } from './raw-member.ts'

beforeEach(() => start())

const alice = ALICE.holder.id
const ROOM = { operator: OPERATOR.id, channel: CHANNEL }
const PUBLISH = { kind: 'publish', ...ROOM } as const
const key = (): HolderKey => holderKey(SecretKey.generate())
const [SECOND, THIRD] = [key(), key()]

/** The old key no longer counts. */
function step(from: HolderKey, to: HolderKey): SignedSuccession {
  const times = { issuedAt: u64(0), overlapUntil: u64(0) }
  return sealSuccession({ channel: CHANNEL, kind: 'operator', ...times, oldKey: from.secret, newKey: to.secret })
}

const FIRST_STEP = step(OPERATOR, SECOND)
const SECOND_STEP = step(SECOND, THIRD)
const unconnected = (): SignedSuccession => step(key(), key())
const invented = Array.from({ length: MAX_SHOWN_SUCCESSIONS }, unconnected)

function list(
  sequence: number,
  signer: HolderKey,
  successions: readonly SignedSuccession[],
  removed: readonly HolderId[] = [],
): Revoked {
  return { kind: 'revoked', list: listOf(sequence, removed, { operator: signer }), successions }
}

function publisher(): Line {
  return new Line(identity()).say(PUBLISH)
}

const granted = (self: typeof ALICE, operator: HolderKey) => ({
  credentials: credentialsOf(self, { operator, expiresAt: EXPIRES }),
})
const shownTo = ({ heard }: Line) =>
  heard.flatMap((message) => (message.kind === 'revoked' ? [message.successions] : []))
const noted = ({ heard }: Line) => heard.flatMap((message) => (message.kind === 'noted' ? [message.sequence] : []))

describe('a broker of an operator that has changed its key', () => {
  it('keeps the way to the new key when somebody brings its list with successions of his own making', () => {
    publisher().say(list(1, SECOND, [FIRST_STEP]))
    publisher().say(list(2, SECOND, invented))
    expect(shownTo(new Line(BOB).join('initiate', granted(BOB, SECOND)))).toEqual([[FIRST_STEP]])
    const seated = new Line(ALICE).join('accept', granted(ALICE, SECOND))
    expect(seated.kinds).toContain('joined')
    const operator = publisher().say(list(3, SECOND, [FIRST_STEP], [alice]))
    expect([operator.refusal, noted(operator)]).toEqual([undefined, [2n, 3n]])
    expect(seated.refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('keeps no invented succession, wherever among the true ones it stands', () => {
    const [one, two, three] = [unconnected(), unconnected(), unconnected()]
    publisher().say(list(1, THIRD, [one, FIRST_STEP, two, step(OPERATOR, key()), SECOND_STEP, three]))
    const operator = new Line({ ...identity(), holder: THIRD }).say(PUBLISH)
    expect(shownTo(operator)).toEqual([[FIRST_STEP, SECOND_STEP]])
  })

  it('follows a further change that comes with all that may be shown', () => {
    publisher().say(list(1, SECOND, [FIRST_STEP]))
    const operator = publisher().say(list(2, THIRD, [...invented.slice(2), FIRST_STEP, SECOND_STEP]))
    expect([operator.refusal, noted(operator)]).toEqual([undefined, [1n, 2n]])
    const line = new Line(ALICE).join('accept', { ...granted(ALICE, THIRD), successions: invented })
    expect(line.kinds).toContain('joined')
  })

  it('does not forget it over a list of the same key that comes without', () => {
    publisher().say(list(1, SECOND, [FIRST_STEP]))
    publisher().say(list(2, SECOND, []))
    const line = new Line(ALICE).join('accept', granted(ALICE, SECOND))
    expect(line.kinds).toContain('joined')
  })

  it('learns all that a member shows at its join beside what it knows itself', () => {
    publisher().say(list(1, SECOND, [FIRST_STEP]))
    const shown = [...invented.slice(2), FIRST_STEP, SECOND_STEP]
    const line = new Line(ALICE).join('accept', { ...granted(ALICE, THIRD), successions: shown })
    expect(line.kinds).toContain('joined')
  })

  it('sends the list to whoever publishes with the newest key, shown or not', () => {
    publisher().say(list(1, SECOND, [FIRST_STEP]))
    const operator = new Line({ ...identity(), holder: SECOND }).say(PUBLISH)
    expect(operator.kinds).toContain('revoked')
  })
})
