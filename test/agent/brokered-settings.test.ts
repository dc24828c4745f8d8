import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readBrokeredConfig } from '../../src/agent/direct/brokered-config.ts'
import { encodeGrant, GRANT, type Grant } from '../../src/channel/membership/index.ts'
import { seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { toCtError } from '../../src/core/errors.ts'
import { type ChannelId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'

const OPERATOR = holderKey(SecretKey.generate())
const MEMBER = holderKey(SecretKey.generate())
const OTHER = holderKey(SecretKey.generate())
const CHANNEL = 'c7'.repeat(32) as ChannelId

let stateDir: string
beforeAll(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'ct-agent-settings-'))
})
afterAll(() => rmSync(stateDir, { recursive: true }))

function grant(changes: Partial<Grant> = {}, signer = OPERATOR): string {
  const body: Grant = {
    channel: CHANNEL,
    holder: MEMBER.id,
    direction: 'both',
    rights: 'rw',
    delegable: false,
    expiresAt: U64_MAX,
    ...changes,
  }
  return toHex(encodeGrant(seal(GRANT, body, signer.secret)))
}

const GOOD: Env = {
  CT_CHANNEL_ROLE: 'accept',
  CT_CHANNEL_BROKER: 'broker.example:4435',
  CT_CHANNEL_OPERATOR_PUBKEY: OPERATOR.id,
  CT_CHANNEL_HOLDER_KEY: toHex(MEMBER.secret.reveal()),
  CT_CHANNEL_GRANT: grant(),
}

function read(changes: Env = {}) {
  const config = readBrokeredConfig({ ...GOOD, ...changes }, { clock: systemClock, stateDir })
  if (config.path.via !== 'broker') throw new TypeError('expected a brokered path')
  return { ...config, path: config.path }
}

function problem(changes: Env): string {
  try {
    read(changes)
  } catch (error) {
    const { code, message } = toCtError(error)
    return `${code}: ${message}`
  }
  return 'none'
}

const refusals: readonly (readonly [string, Env, RegExp])[] = [
  [
    'no role',
    { CT_CHANNEL_ROLE: '' },
    /^ERR_CONFIG_INVALID: CT_CHANNEL_ROLE must be initiate\|accept, got Some\(""\)$/,
  ],
  ['no grant', { CT_CHANNEL_GRANT: '' }, /^ERR_CONFIG_INVALID: CT_CHANNEL_GRANT required \(hex signed grant\)$/],
  [
    'a cut grant',
    { CT_CHANNEL_GRANT: grant().slice(2) },
    /CT_CHANNEL_GRANT invalid .*expected 278 hex digits, found 276$/,
  ],
  ['no operator', { CT_CHANNEL_OPERATOR_PUBKEY: '' }, /: CT_CHANNEL_OPERATOR_PUBKEY required \(64 hex\)$/],
  [
    'a broker that is no address',
    { CT_CHANNEL_BROKER: 'nowhere' },
    /CT_CHANNEL_BROKER invalid \(host:port or a multiaddr\)/,
  ],
  [
    'a grant of another',
    { CT_CHANNEL_GRANT: grant({ holder: OTHER.id }) },
    /^ERR_GRANT_INVALID: CT_CHANNEL_GRANT is for the holder key [0-9a-f]{10}…, and CT_CHANNEL_HOLDER_KEY is the key of [0-9a-f]{10}…$/,
  ],
  [
    'no key of the grant',
    { CT_CHANNEL_HOLDER_KEY: '' },
    /^ERR_GRANT_INVALID: CT_CHANNEL_HOLDER_KEY required \(64 hex\): CT_CHANNEL_GRANT is for the holder key/,
  ],
  [
    'a grant for the other side',
    { CT_CHANNEL_GRANT: grant({ direction: 'initiate' }) },
    /^ERR_GRANT_INVALID: CT_CHANNEL_GRANT allows to initiate, and CT_CHANNEL_ROLE is accept$/,
  ],
  ['an expired grant', { CT_CHANNEL_GRANT: grant({ expiresAt: u64(1) }) }, /^ERR_GRANT_EXPIRED: CT_CHANNEL_GRANT: /],
  [
    'a grant of another operator',
    { CT_CHANNEL_GRANT: grant({}, OTHER) },
    /^ERR_GRANT_INVALID: CT_CHANNEL_GRANT: .*, or CT_CHANNEL_OPERATOR_PUBKEY is not the operator that signed it$/,
  ],
  [
    'an address to tell and none to listen at',
    { CT_CHANNEL_ADVERTISE: '203.0.113.5:4433' },
    /CT_CHANNEL_LISTEN required \(advertised host:port\) — or set CT_CHANNEL_RELAY_ONLY=1 for a relay-only member with no dialable address$/,
  ],
]

describe('the settings of a channel through a broker', () => {
  for (const [name, changes, expected] of refusals) {
    it(`are refused with ${name}`, () => {
      expect(problem(changes)).toMatch(expected)
    })
  }

  it('name every problem at once', () => {
    expect(
      problem({ CT_CHANNEL_GRANT: '', CT_CHANNEL_OPERATOR_PUBKEY: 'x', CT_CHANNEL_RELAY: 'y' }).split('\n'),
    ).toHaveLength(3)
  })

  it('trust the members of the channel that the grant names, and the named keys among them', () => {
    expect(read().trust).toEqual({ channel: { operator: OPERATOR.id, channel: CHANNEL } })
    const named = read({ CT_CHANNEL_ROLE: 'initiate', CT_CHANNEL_PEER_HOLDER: OTHER.id })
    expect(named.trust.holders).toEqual(new Set([OTHER.id]))
    expect(named.path.broker.wants).toBe(OTHER.id)
    const several = read({ CT_CHANNEL_ROLE: 'initiate', CT_CHANNEL_PEER_HOLDER: `${OTHER.id},${MEMBER.id}` })
    expect(several.path.broker.wants).toBeUndefined()
  })

  it('ask for no address: without one the relay is the way', () => {
    expect(read().path).toMatchObject({ listen: [], broker: { relayOnly: true } })
    const listening = { CT_CHANNEL_LISTEN: '127.0.0.1:0' }
    expect(read(listening).path).toMatchObject({
      listen: [{ host: '127.0.0.1', port: 0 }],
      broker: { relayOnly: false },
    })
    expect(read({ ...listening, CT_CHANNEL_RELAY_ONLY: 'yes' }).path).toMatchObject({
      listen: [],
      broker: { relayOnly: true },
    })
    expect(read({ ...listening, CT_CHANNEL_ROLE: 'initiate' }).path.listen).toEqual([])
  })

  it('take the broker for the relay unless there is another, and the front door for a way to the broker', () => {
    expect(read().path.broker).toMatchObject({ broker: [{ host: 'broker.example' }], relay: [] })
    expect(read({ CT_CHANNEL_RELAY: 'broker.example:4435' }).path.broker.relay).toEqual([])
    const more = read({ CT_CHANNEL_RELAY: 'relay.example:4436', CT_CHANNEL_FRONT_DOOR: 'broker.example:443' })
    expect(more.path.broker).toMatchObject({
      broker: [
        { port: 4435, transport: 'tcp' },
        { port: 443, transport: 'wss' },
      ],
      relay: [{ host: 'relay.example' }],
    })
  })

  it('accept a grant that was passed on, with the one it rests on', () => {
    const first = grant({ holder: OTHER.id, delegable: true })
    const chain = `${first}, ${grant({}, OTHER)}`
    expect(read({ CT_CHANNEL_GRANT: chain }).self.credentials?.().grants).toHaveLength(2)
  })

  it('keep the Noise key that no variable gives', () => {
    expect(read().self.noise.id).toBe(read().self.noise.id)
  })
})
