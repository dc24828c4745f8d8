/**
 * A seller inside the test that shows and serves whatever the test says: honest programs cannot be made to.
 *
 * @module
 */
import { auctionTools } from '../../src/agent/serving/signed-tools.ts'
import { formatTicket, listen } from '../../src/channel/index.ts'
import { type Verified } from '../../src/core/artefact.ts'
import { CtError } from '../../src/core/errors.ts'
import { parseExactJson, writeExactJson } from '../../src/core/exact-json.ts'
import { isExactObject, own } from '../../src/core/json-shape.ts'
import { generateInstanceId, type HolderKey, holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { createCallLedger, createToolRegistry, pingTool, serveMcp, type Tool } from '../../src/mcp/index.ts'
import { parseBid } from '../../src/offers/bid.ts'
import { type CapacityMatch, matchOf } from '../../src/offers/clearing.ts'
import { CAPACITY_OFFER, type CapacityOffer } from '../../src/offers/offer.ts'
import { signedBy } from '../core/forged.ts'
import { terms } from '../offers/settings.ts'
import { silentLog } from '../silent-log.ts'
import { type Stage } from './stage.ts'

export interface OwnSeller {
  readonly ticket: string
  readonly holder: HolderKey
  /** Bids that arrived. */
  readonly bids: number
}

export interface Behaviour {
  /** Changes what the offer says. */
  readonly offer?: Partial<CapacityOffer>
  /** Signs the offer; the seller itself unless given. */
  readonly signer?: HolderKey
  readonly services?: readonly string[]
  /** Changes the match that an honest seller would answer with. */
  readonly match?: (match: CapacityMatch) => CapacityMatch
  /** Signs the offer anew when a bid arrives, before it is matched, with these changes. */
  readonly renews?: Partial<CapacityOffer>
  /** Matches the first bid without ever answering it. */
  readonly forgetsToAnswer?: true
}

const OVER = new CtError('ERR_PEER_SHUTDOWN', 'the test is over')

export async function openSeller(stage: Stage, behaviour: Behaviour = {}): Promise<OwnSeller> {
  const { services = ['safety_check'], match: twist = (match) => match } = behaviour
  const holder = holderKey(SecretKey.generate())
  const secret = SecretKey.generate()
  const signer = behaviour.signer ?? holder
  let bids = 0
  const sign = (changes: Partial<CapacityOffer> = {}): Verified<CapacityOffer> => {
    // Not twice in one second, or a new offer would be the old one.
    const issuedAt = u64(unixSeconds(systemClock) - 10n + BigInt(bids))
    const life = { issuedAt, expiresAt: u64(issuedAt + 600n) }
    const body = { holder: signer.id, ...terms, ...life, ...behaviour.offer, ...changes }
    // It may lie about who signs.
    return signedBy(signer.secret, CAPACITY_OFFER, body) as Verified<CapacityOffer>
  }
  let offer = sign()
  const tools = auctionTools(
    {
      offer: () => offer,
      bid: (args) => {
        bids += 1
        if (behaviour.renews !== undefined) offer = sign(behaviour.renews)
        return twist(matchOf(offer.body, bodyOf(args)))
      },
    },
    silentLog,
  )
  const served = behaviour.forgetsToAnswer === true ? tools.map((tool) => answeringFromTheSecondOn(tool)) : tools
  const listener = await listen({
    self: {
      holder,
      noise: noiseKey(SecretKey.generate()),
      run: generateInstanceId(),
      agent: 'test/0',
      mode: 'serve',
      limits: { messageBytes: 1_048_576, inFlight: 64, idleSeconds: 300 },
    },
    listen: [{ host: '127.0.0.1', port: 0 }],
    trust: { ticketSecret: secret },
    maxSessions: 8,
    clock: systemClock,
    log: silentLog,
    onSession: (session) => {
      serveMcp(session, {
        registry: createToolRegistry([pingTool, ...served, ...services.map(serviceTool)]),
        ledger: createCallLedger(systemClock),
        log: silentLog,
        serverInfo: { name: 'test', version: '0' },
        randomId: () => 'id',
      })
    },
  })
  stage.onClose(() => listener.close(OVER))
  return {
    ticket: formatTicket({ holder: holder.id, addresses: listener.addresses, secret }),
    holder,
    get bids() {
      return bids
    },
  }
}

function answeringFromTheSecondOn(tool: Tool): Tool {
  let calls = 0
  return {
    ...tool,
    call: (args, context) => {
      calls += 1
      const answer = tool.call(args, context)
      return calls === 1 && tool.name === 'auction/bid' ? new Promise(() => {}) : answer
    },
  }
}

function bodyOf(args: string) {
  const value = parseExactJson(args, 'arguments')
  return parseBid(writeExactJson((isExactObject(value) ? own(value, 'bid') : undefined) ?? null)).body
}

function serviceTool(slug: string): Tool {
  return {
    name: `service/${slug}`,
    description: `typed ${slug} service`,
    inputSchema: { type: 'object', properties: {} },
    idempotent: false,
    call: () => ({ output: '' }),
  }
}
