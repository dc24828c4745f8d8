import { describe, expect, it } from 'vitest'
import { checkAdmission as checkAt, checkPins, type ProvenKeys, type TrustPolicy } from '../../src/channel/admission.ts'
import { type Hello } from '../../src/channel/session/hello.ts'
import { ticketProof } from '../../src/channel/ticket.ts'
import { CtError } from '../../src/core/errors.ts'
import { type HolderId, type InstanceId, type NoiseKeyId } from '../../src/core/ids.ts'
import { holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { u64 } from '../../src/core/u64.ts'
import { credentialsOf, TRUST } from './test-channel.ts'

const [ALICE, BOB, SERVER] = ['a1', 'b0', '5e'].map((byte) => byte.repeat(32) as HolderId)
const [NOISE, EPHEMERAL, OTHER_NOISE] = ['01', '02', '03'].map((byte) => byte.repeat(32) as NoiseKeyId)
if (!(ALICE && BOB && SERVER && NOISE && EPHEMERAL && OTHER_NOISE)) throw new TypeError('six keys')
const OTHER_SELF = holderKey(SecretKey.generate())
const SECRET = new SecretKey(new Uint8Array(32).fill(7))

const alice: ProvenKeys = { holder: ALICE, noiseKeys: new Set([NOISE, EPHEMERAL]) }
const hello: Hello = {
  version: 1,
  mode: 'call',
  run: '00'.repeat(16) as InstanceId,
  agent: 'test',
  limits: { messageBytes: 1, inFlight: 0, idleSeconds: 0 },
}
const proven: Hello = { ...hello, proof: ticketProof(SECRET, ALICE, SERVER) }

const rows: readonly { name: string; trust: TrustPolicy; hello?: Hello; admits: boolean }[] = [
  { name: 'nobody when there is no rule', trust: {}, admits: false },
  { name: 'nobody when there is no rule, ticket or not', trust: {}, hello: proven, admits: false },
  { name: 'nobody with an empty set of holders', trust: { holders: new Set() }, admits: false },
  { name: 'nobody with an empty set of Noise keys', trust: { noiseKeys: new Set() }, admits: false },
  { name: 'a pinned holder', trust: { holders: new Set([ALICE]) }, admits: true },
  { name: 'a holder among several', trust: { holders: new Set([BOB, ALICE]) }, admits: true },
  { name: 'no other holder (W22)', trust: { holders: new Set([BOB]) }, admits: false },
  { name: 'a pinned Noise key', trust: { noiseKeys: new Set([NOISE]) }, admits: true },
  { name: 'no other Noise key (W22)', trust: { noiseKeys: new Set([OTHER_NOISE]) }, admits: false },
  { name: 'who meets both pins', trust: { holders: new Set([ALICE]), noiseKeys: new Set([NOISE]) }, admits: true },
  {
    name: 'nobody who meets the holder pin alone (W22)',
    trust: { holders: new Set([ALICE]), noiseKeys: new Set([OTHER_NOISE]) },
    admits: false,
  },
  {
    name: 'nobody who meets the Noise pin alone (W22)',
    trust: { holders: new Set([BOB]), noiseKeys: new Set([NOISE]) },
    admits: false,
  },
  { name: 'who proves the ticket', trust: { ticketSecret: SECRET }, hello: proven, admits: true },
  { name: 'nobody without the ticket', trust: { ticketSecret: SECRET }, admits: false },
  {
    name: 'nobody with the ticket who misses a pin',
    trust: { ticketSecret: SECRET, holders: new Set([BOB]) },
    hello: proven,
    admits: false,
  },
  {
    name: 'nobody who meets the pin without the ticket',
    trust: { ticketSecret: SECRET, holders: new Set([ALICE]) },
    admits: false,
  },
  {
    name: 'who meets the pin and proves the ticket',
    trust: { ticketSecret: SECRET, holders: new Set([ALICE]) },
    hello: proven,
    admits: true,
  },
  {
    name: 'nobody with another ticket',
    trust: { ticketSecret: new SecretKey(new Uint8Array(32)) },
    hello: proven,
    admits: false,
  },
  {
    name: 'nobody with the proof of another caller',
    trust: { ticketSecret: SECRET },
    hello: { ...hello, proof: ticketProof(SECRET, BOB, SERVER) },
    admits: false,
  },
  {
    name: 'nobody with a proof for another server',
    trust: { ticketSecret: SECRET },
    hello: { ...hello, proof: ticketProof(SECRET, ALICE, BOB) },
    admits: false,
  },
  {
    name: 'nobody with the server’s own proof',
    trust: { ticketSecret: SECRET },
    hello: { ...hello, proof: ticketProof(SECRET, SERVER, ALICE) },
    admits: false,
  },
  {
    name: 'nobody with the bare secret',
    trust: { ticketSecret: SECRET },
    hello: { ...hello, proof: SECRET.reveal() },
    admits: false,
  },
  {
    name: 'nobody with an empty proof',
    trust: { ticketSecret: SECRET },
    hello: { ...hello, proof: new Uint8Array(0) },
    admits: false,
  },
  {
    name: 'a pinned holder who shows a needless ticket',
    trust: { holders: new Set([ALICE]) },
    hello: proven,
    admits: true,
  },
]

/** What pins and tickets alone make of a caller. */
function checkAdmission(trust: TrustPolicy, proven: ProvenKeys, server: HolderId, said: Hello): CtError | undefined {
  const verdict = checkAt(trust, proven, server, said, { side: 'initiate', now: u64(0) })
  if (verdict !== undefined && !(verdict instanceof CtError)) throw new TypeError('expected no membership')
  return verdict
}

describe('checkAdmission', () => {
  for (const { name, trust, hello: said = hello, admits } of rows) {
    it(`admits ${name}`, () => {
      const refusal = checkAdmission(trust, alice, SERVER, said)
      expect(refusal?.code).toBe(admits ? undefined : 'ERR_PEER_REFUSED')
    })
  }

  it('refuses one bit of a proof changed', () => {
    for (let bit = 0; bit < 256; bit += 1) {
      const proof = ticketProof(SECRET, ALICE, SERVER)
      proof[bit >> 3] = (proof[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(checkAdmission({ ticketSecret: SECRET }, alice, SERVER, { ...hello, proof })?.code).toBe(
        'ERR_PEER_REFUSED',
      )
    }
  })

  it('tells a missing ticket from a wrong one', () => {
    expect(checkAdmission({ ticketSecret: SECRET }, alice, SERVER, hello)?.message).toMatch(/none was shown/)
    expect(checkAdmission({ ticketSecret: SecretKey.generate() }, alice, SERVER, proven)?.message).toMatch(
      /not, or no longer/,
    )
  })
})

describe('the members of a channel', () => {
  it('are two: who shows the server’s own key is not admitted', () => {
    const keys = { holder: OTHER_SELF, noise: noiseKey(SecretKey.generate()) }
    const said = { ...hello, credentials: credentialsOf(keys) }
    const own = { holder: OTHER_SELF.id, noiseKeys: new Set([keys.noise.id]) }
    const at = { side: 'initiate', now: u64(0) } as const
    expect(checkAt({ channel: TRUST }, own, SERVER, said, at)).toMatchObject({ rights: 'rw' })
    expect(checkAt({ channel: TRUST }, own, own.holder, said, at)).toMatchObject({
      code: 'ERR_GRANT_INVALID',
      detail: { category: 'pairing' },
    })
  })
})

describe('what is known of removals', () => {
  const keys = { holder: OTHER_SELF, noise: noiseKey(SecretKey.generate()) }
  const own = { holder: OTHER_SELF.id, noiseKeys: new Set([keys.noise.id]) }
  const said = { ...hello, credentials: credentialsOf(keys) }
  const verdict = (isRevoked: (holder: HolderId) => boolean, isStale: boolean) => {
    const at = { side: 'initiate', now: u64(0), revocations: { isRevoked, isStale: () => isStale } } as const
    return checkAt({ channel: TRUST }, own, SERVER, said, at)
  }

  it('keeps those out that were removed, and those without a staple where it is stale', () => {
    expect(verdict(() => false, false)).toMatchObject({ rights: 'rw' })
    expect(verdict((holder) => holder === OTHER_SELF.id, false)).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
    expect(verdict(() => false, true)).toMatchObject({ code: 'ERR_MEMBERSHIP_STALE' })
  })
})

describe('checkPins', () => {
  it('finds nothing wrong without pins: who calls must bring some', () => {
    expect(checkPins({}, alice)).toBeUndefined()
  })

  it('does not take a peer without Noise keys for a pinned one', () => {
    expect(checkPins({ noiseKeys: new Set([NOISE]) }, { holder: ALICE, noiseKeys: new Set() })?.code).toBe(
      'ERR_PEER_REFUSED',
    )
  })
})
