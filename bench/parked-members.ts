/**
 * A process with many members that wait at one broker, as `ct-agent serve --broker` waits: `<order in JSON>`.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { listen, type SelfDescription } from '../src/channel/index.ts'
import { attestNoiseKey, GRANT } from '../src/channel/membership/index.ts'
import { seal } from '../src/core/artefact.ts'
import { CtError } from '../src/core/errors.ts'
import { type ChannelId } from '../src/core/ids.ts'
import { generateInstanceId, type HolderKey, holderKey, noiseKey, SecretKey } from '../src/core/keys.ts'
import { systemClock } from '../src/core/time.ts'
import { U64_MAX } from '../src/core/u64.ts'
import { type ParkOrder } from './park-order.ts'

const silentLog = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const RESERVED_TIMEOUT_MS = 120_000

const { broker, channel, members, perSecond } = JSON.parse(process.argv[2] ?? '') as ParkOrder
const operator = holderKey(SecretKey.generate())
const reserved = Promise.withResolvers<void>()
let waiting = members
for (let count = 0; count < members; count += 1) {
  await Promise.all([park(), sleep(1_000 / perSecond)])
}
await Promise.race([reserved.promise, sleep(RESERVED_TIMEOUT_MS)])
if (waiting > 0) throw new CtError('ERR_TIMEOUT', `${waiting} of ${members} members found no place at the relay`)
process.send?.('parked')

async function park(): Promise<void> {
  const self = member()
  await listen({
    self,
    listen: [],
    trust: { channel: { operator: operator.id, channel: channel as ChannelId } },
    maxSessions: 8,
    broker: {
      broker: [broker],
      relay: [],
      operator: operator.id,
      channel: channel as ChannelId,
      relayOnly: true,
      random: Math.random,
      onState: (state) => {
        if (state.kind !== 'reserved') return
        waiting -= 1
        if (waiting === 0) reserved.resolve()
      },
    },
    onSession: () => {},
    clock: systemClock,
    log: silentLog,
  })
}

function member(): SelfDescription {
  const keys = { holder: holderKey(SecretKey.generate()), noise: noiseKey(SecretKey.generate()) }
  const credentials = { grants: [grantOf(keys.holder)], attestation: attestNoiseKey(channel as ChannelId, keys) }
  return {
    ...keys,
    run: generateInstanceId(),
    agent: 'ct-agent/bench',
    mode: 'serve',
    limits: { messageBytes: 8_388_608, inFlight: 256, idleSeconds: 0 },
    credentials: () => credentials,
  }
}

function grantOf(holder: HolderKey) {
  return seal(
    GRANT,
    {
      channel: channel as ChannelId,
      holder: holder.id,
      direction: 'accept',
      rights: 'rw',
      delegable: false,
      expiresAt: U64_MAX,
    },
    operator.secret,
  )
}
