/**
 * A seller in a process of its own, reached by a buyer inside the test, in both ways in which an agent serves.
 *
 * @module
 */
import { parseAddress } from '../../src/channel/address.ts'
import { seal, type Verified } from '../../src/core/artefact.ts'
import { type Env } from '../../src/core/env.ts'
import { parseExactJson, toJsonValue, writeExactJson } from '../../src/core/exact-json.ts'
import { isExactObject, own } from '../../src/core/json-shape.ts'
import { holderKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { bidJson, CAPACITY_BID, type CapacityBid, NO_TERMS } from '../../src/offers/bid.ts'
import { type CapacityOffer, openOffer, parseOffer } from '../../src/offers/offer.ts'
import { type Agent } from './agent.ts'
import { type Keys, Members } from './members.ts'
import { Peer, targetOf } from './peer.ts'
import { type Stage, stateOf } from './stage.ts'

export const SELLING: Env = {
  CT_AGENT_CARD_ROLES: 'seller',
  CT_AGENT_OFFER_KIND: 'local',
  CT_AGENT_OFFER_MODELS: 'm1',
  CT_AGENT_OFFER_UNITS: '100',
  CT_AGENT_OFFER_MIN_PRICE: '10',
  CT_AGENT_OFFER_CURRENCY: 'c',
  CT_AGENT_OFFER_SERVICES: 'safety_check',
  CT_AGENT_SERVICE_HANDLER_CMD: 'cat',
  CT_AGENT_SERVICES: 'safety_check,static_analysis',
}

export type Way = 'ct-agent serve' | 'ct-agent channel'

export interface RunningSeller {
  readonly agent: Agent
  /** Opens a new session. */
  readonly connect: (keys?: Keys) => Promise<Peer>
}

export class Market {
  readonly members: Members
  readonly #stage: Stage
  readonly #way: Way

  constructor(stage: Stage, way: Way) {
    this.#stage = stage
    this.#way = way
    this.members = new Members(stage)
  }

  get buyer() {
    return holderKey(this.members.caller.holder)
  }

  /** Starts the seller; again and again it is the same one, with what it keeps. */
  async start(changes: Env = {}): Promise<RunningSeller> {
    const env = { ...SELLING, ...stateOf(this.#stage, 'seller'), ...changes }
    const connect =
      (target: Parameters<typeof Peer.open>[2]) =>
      (keys: Keys = this.members.caller) =>
        Peer.open(this.#stage, keys, target)
    if (this.#way === 'ct-agent serve') {
      const agent = this.#stage.start(['serve', '--listen', '127.0.0.1:0'], { env })
      const target = targetOf(await agent.line())
      return { agent, connect: connect(target) }
    }
    const { agent, address } = await this.members.accept({ CT_CHANNEL_SERVE: '1', ...env })
    const parsed = parseAddress(address)
    if ('problem' in parsed) throw new TypeError(parsed.problem)
    const holders = new Set([holderKey(this.members.server.holder).id])
    return { agent, connect: connect({ addresses: [parsed.value], trust: { holders } }) }
  }

  /** A bid of the buyer for 60 units. */
  bid(changes: Partial<CapacityBid> = {}): Verified<CapacityBid> {
    const now = unixSeconds(systemClock)
    const body: CapacityBid = {
      bidder: this.buyer.id,
      kind: 'LocalHardware',
      model: 'm1',
      units: u64(60),
      totalPrice: u64(10),
      issuedAt: now,
      expiresAt: u64(now + 600n),
      termsAck: NO_TERMS,
      service: undefined,
      ...changes,
    }
    return seal(CAPACITY_BID, body, this.buyer.secret)
  }
}

export async function fetchOffer(peer: Peer): Promise<Verified<CapacityOffer>> {
  const sealed = parseOffer(resultOf(await peer.ask('tools/call', { name: 'auction/offer' })))
  return openOffer(sealed, { now: unixSeconds(systemClock) })
}

/** The whole answer to the bid, as text. */
export function submit(peer: Peer, bid: Verified<CapacityBid>): Promise<string> {
  return peer.ask('tools/call', { name: 'auction/bid', arguments: { bid: toJsonValue(bidJson(bid)) } })
}

/** The result in an answer, as text. */
export function resultOf(answer: string): string {
  const value = parseExactJson(answer, 'answer')
  const result = isExactObject(value) ? own(value, 'result') : undefined
  if (result === undefined) throw new TypeError(`expected a result, found ${answer}`)
  return writeExactJson(result)
}
