import { describe, expect, it } from 'vitest'
import { readBrokerWays } from '../../src/agent/front-door.ts'
import { type BrokerPlace } from '../../src/channel/index.ts'
import { type Env, type EnvProblem } from '../../src/core/env.ts'
import { certificate } from '../channel/certificates.ts'
import { fileWith } from './artefact-files.ts'

const PIN = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
const OTHER_PIN = '12D3KooWFK7zqshPBxSPpUQaYswACs7P6jMhKLYQof2sbequBNN5'
const ISSUED = certificate({ names: ['front.test'] })

function read(env: Env): { ways: readonly BrokerPlace[]; problems: readonly string[] } {
  const problems: EnvProblem[] = []
  const ways = readBrokerWays(env, problems)
  return { ways, problems: problems.map(({ message }) => message) }
}

const TCP = { host: 'b.example', port: 4435, transport: 'tcp' } as const
const DOOR = { host: 'b.example', port: 443, transport: 'wss', isFrontDoor: true } as const

describe('the ways to a broker', () => {
  const rows: readonly { name: string; env: Env; ways: readonly BrokerPlace[] }[] = [
    { name: 'the broker alone', env: { CT_CHANNEL_BROKER: 'b.example:4435' }, ways: [TCP] },
    {
      name: 'the broker, then its front door',
      env: { CT_CHANNEL_BROKER: 'b.example:4435', CT_CHANNEL_FRONT_DOOR: 'b.example:443' },
      ways: [TCP, DOOR],
    },
    { name: 'the front door alone', env: { CT_CHANNEL_FRONT_DOOR: 'b.example:443' }, ways: [DOOR] },
    {
      name: 'the front door, pinned as the broker is',
      env: { CT_CHANNEL_BROKER: `b.example:4435/p2p/${PIN}`, CT_CHANNEL_FRONT_DOOR: 'b.example:443' },
      ways: [
        { ...TCP, peer: PIN },
        { ...DOOR, peer: PIN },
      ],
    },
    {
      name: 'the front door with a pin of its own',
      env: { CT_CHANNEL_BROKER: `b.example:4435/p2p/${PIN}`, CT_CHANNEL_FRONT_DOOR: `b.example:443/p2p/${OTHER_PIN}` },
      ways: [
        { ...TCP, peer: PIN },
        { ...DOOR, peer: OTHER_PIN },
      ],
    },
    {
      name: 'nothing but the front door',
      env: {
        CT_CHANNEL_BROKER: 'b.example:4435',
        CT_CHANNEL_FRONT_DOOR: 'b.example:443',
        CT_CHANNEL_FRONT_DOOR_ONLY: '1',
      },
      ways: [DOOR],
    },
    {
      name: 'the WebSocket address of the broker as its front door',
      env: { CT_CHANNEL_BROKER: 'b.example:4435,/dns/b.example/tcp/443/wss', CT_CHANNEL_FRONT_DOOR_ONLY: '1' },
      ways: [{ host: 'b.example', port: 443, transport: 'wss' }],
    },
    {
      name: 'one way, where both variables name it',
      env: { CT_CHANNEL_BROKER: '/dns/b.example/tcp/443/wss', CT_CHANNEL_FRONT_DOOR: 'b.example:443' },
      ways: [DOOR],
    },
  ]
  for (const { name, env, ways } of rows) {
    it(`are ${name}`, () => expect(read(env)).toEqual({ ways, problems: [] }))
  }

  it('have the certificate where TLS is spoken, from a file or in hex', () => {
    const env = { CT_CHANNEL_BROKER: 'b.example:4435', CT_CHANNEL_FRONT_DOOR: 'b.example:443,/dns/c/tcp/80/ws' }
    const plain = { host: 'c', port: 80, transport: 'ws', isFrontDoor: true }
    const other = certificate({ names: ['other.test'] })
    for (const [text, certificates] of [
      [fileWith(ISSUED.cert), [ISSUED.cert]],
      [fileWith(`words\n${ISSUED.cert}\n${ISSUED.key}${other.cert}`), [ISSUED.cert, other.cert]],
      [Buffer.from(ISSUED.der).toString('hex'), [ISSUED.cert]],
      [` ${Buffer.from(ISSUED.der).toString('hex').toUpperCase()} `, [ISSUED.cert]],
    ] as const) {
      const { ways, problems } = read({ ...env, CT_CHANNEL_FRONT_DOOR_CERT: text })
      expect(problems).toEqual([])
      expect(ways).toEqual([TCP, { ...DOOR, certificates }, plain])
    }
  })

  it('refuse what is no certificate, and never show a key that stands there instead', () => {
    const env = { CT_CHANNEL_FRONT_DOOR: 'b.example:443' }
    const broken = ISSUED.cert.replace(/MII../, 'AAAAA')
    for (const text of [
      fileWith(ISSUED.key),
      fileWith(broken),
      fileWith(''),
      `${fileWith('')}.missing`,
      Buffer.from(ISSUED.der).toString('hex').slice(2),
      Buffer.from(ISSUED.der).toString('hex').slice(0, -2),
    ]) {
      const { problems } = read({ ...env, CT_CHANNEL_FRONT_DOOR_CERT: text })
      expect(problems).toEqual([
        expect.stringMatching(/^CT_CHANNEL_FRONT_DOOR_CERT invalid \(a PEM file, or hex DER\): /),
      ])
      expect(problems[0]).not.toContain(ISSUED.key.slice(40, 60))
    }
  })

  it('are none where the front door is to be the only one and there is none', () => {
    const env = { CT_CHANNEL_BROKER: 'b.example:4435', CT_CHANNEL_FRONT_DOOR_ONLY: '1' }
    expect(() => read(env)).toThrow('CT_CHANNEL_FRONT_DOOR_ONLY requires CT_CHANNEL_FRONT_DOOR')
    expect(read({}).problems).toEqual(['CT_CHANNEL_BROKER required (host:port or a multiaddr)'])
  })
})
