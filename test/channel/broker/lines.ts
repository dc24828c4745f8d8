/**
 * A rendezvous server on a clock that stands still, and members as lines in memory.
 *
 * @module
 */
import { Arrivals } from '../../../src/channel/broker/arrivals.ts'
import { Counters } from '../../../src/channel/broker/counters.ts'
import { type RoomName } from '../../../src/channel/broker/kept-lists.ts'
import { type KeptLimits } from '../../../src/channel/broker/making-room.ts'
import { type MemberPeer } from '../../../src/channel/broker/member-link.ts'
import { RendezvousServer } from '../../../src/channel/broker/rendezvous-server.ts'
import { Rooms } from '../../../src/channel/broker/rooms.ts'
import { type Grant } from '../../../src/channel/membership/index.ts'
import { encodeRendezvousFrame, RendezvousReader } from '../../../src/channel/rendezvous/framing.ts'
import {
  encodeFromMember,
  type FromBroker,
  type FromMember,
  type Join,
  MAX_LIST_MESSAGE_BYTES,
  parseFromBroker,
} from '../../../src/channel/rendezvous/messages.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'
import { TestWire } from '../test-wire.ts'
import { CHANNEL, credentialsOf, type Identity, identity, joinOf } from './raw-member.ts'

export const EXPIRES = u64(3_600)
export const [ALICE, BOB] = [identity(), identity()]

export let clock: FakeClock
export let rooms: Rooms
export let counters: Counters
export let server: RendezvousServer
/** Rooms of which relayed connections were to be ended. */
export let cuts: RoomName[]

export function start(operators?: ReadonlySet<HolderId>, keptLists?: KeptLimits): void {
  clock = new FakeClock()
  rooms = new Rooms({ rooms: 100, seats: 100, operatorRooms: 100, operatorSeats: 100 })
  counters = new Counters()
  cuts = []
  server = new RendezvousServer({
    rooms,
    counters,
    arrivals: new Arrivals(),
    operators,
    keptLists,
    onRemoved: (room) => cuts.push(room),
    clock,
    log: silentLog,
  })
  server.start()
}

/** One stream of a member, and what the broker says on it. */
export class Line {
  readonly wire = new TestWire()
  readonly peer: MemberPeer
  readonly self: Identity

  constructor(self: Identity, { host = '203.0.113.5', connection = {} }: { host?: string; connection?: object } = {}) {
    this.self = self
    this.peer = {
      holder: self.holder.id,
      noiseKeys: new Set([self.noise.id]),
      observed: { host, port: 50_000 },
      connection,
    }
    server.accept(this.wire, this.peer)
  }

  say(message: FromMember): this {
    this.wire.deliver(encodeRendezvousFrame(encodeFromMember(message)))
    return this
  }

  join(side: Join['side'], changes: Partial<Join> = {}): this {
    return this.say(this.ready(side, changes))
  }

  ready(side: Join['side'], changes: Partial<Join> = {}): Join {
    const credentials = credentialsOf(this.self, { channel: changes.channel ?? CHANNEL, expiresAt: EXPIRES })
    return joinOf(this.self, side, { credentials, ...changes })
  }

  get heard(): readonly FromBroker[] {
    const reader = new RendezvousReader(MAX_LIST_MESSAGE_BYTES)
    return this.wire.writes.flatMap((bytes) => reader.push(bytes)).flatMap((payload) => parseFromBroker(payload) ?? [])
  }

  get kinds(): readonly string[] {
    return this.heard.map(({ kind }) => kind)
  }

  get refusal(): Partial<Extract<FromBroker, { kind: 'refused' }>> | undefined {
    return this.heard.find((message) => message.kind === 'refused')
  }
}

export const strangerKey = holderKey(SecretKey.generate())
export const grantOf = (changes: Partial<Grant>): Partial<Join> => ({
  credentials: credentialsOf(ALICE, { expiresAt: EXPIRES, ...changes }),
})
