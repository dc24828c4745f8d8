/**
 * What there is to examine: the settings as far as they can be read, and the peer that was named.
 *
 * Holds: reading it changes nothing, and one bad setting hides no other.
 *
 * @module
 */
import { type Address, type BrokerPlace, parseTicket, type Ticket } from '../../channel/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type EnvProblem, readEnv } from '../../core/env.ts'
import { type CtError, toCtError } from '../../core/errors.ts'
import { readServiceConfig, type ServiceConfig } from '../../mcp/services/index.ts'
import { CALL_ENV, TICKET_ENV } from '../calling/call-settings.ts'
import { type CallSettings } from '../calling/peer-way.ts'
import { takePeer } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { ALL_ENV_ROWS } from '../env-tables.ts'
import { readFrontDoor, waysTo } from '../front-door.ts'
import { readChannel } from '../member.ts'
import { type Peer } from '../peers/peer.ts'
import { looksLikeTicket, parsePeerName } from '../peers/peer-name.ts'
import { PeerStore } from '../peers/peer-store.ts'

export interface NamedSubject {
  /** As it was given. */
  readonly given: string
  readonly ticket: Ticket | undefined
  readonly peer: Peer | undefined
}

export interface Subject {
  readonly settings: CallSettings
  readonly problems: readonly EnvProblem[]
  readonly listen: readonly Address[]
  /** All ways to the broker of the settings; to that of the peer, when there are none. */
  readonly broker: readonly BrokerPlace[]
  /** Where the relay is, when it is not the broker. */
  readonly relay: readonly BrokerPlace[]
  readonly handler: ServiceConfig | undefined
  /** Of the handler, when the rest of its settings is bad too. */
  readonly handlerCommand: string | undefined
  readonly named: NamedSubject | CtError | undefined
}

export async function readSubject(context: Context): Promise<Subject> {
  const { env } = context
  const problems: EnvProblem[] = []
  readEnv(Object.fromEntries(ALL_ENV_ROWS.map((row) => [row.name, row])), env, problems)
  // The same rows again: their problems are known.
  const again: EnvProblem[] = []
  const values = readChannel(env, again)
  const { timeoutSeconds = 0 } = readEnv({ timeoutSeconds: CALL_ENV.timeoutSeconds }, env, again)
  const before = again.length
  const door = readFrontDoor(env, again)
  const { broker, relay = [] } = readEnv({ broker: BROKERED_ENV.broker, relay: BROKERED_ENV.relay }, env, again)
  const handler = readServiceConfig(env, again)
  const known = new Set(problems.map(({ message }) => message))
  problems.push(...again.slice(before).filter(({ message }) => !known.has(message)))
  const named = await readNamed(context)
  const ofPeer = named === undefined || 'code' in named ? [] : placesOf(named)
  const ways = (): readonly BrokerPlace[] => waysTo(broker ?? (door.places.length === 0 ? ofPeer : []), door)
  return {
    settings: { values, door, reconnect: false, timeoutMs: timeoutSeconds * 1_000 },
    problems: [...problems, ...problemOf(ways)],
    listen: values.listen ?? [],
    broker: problemOf(ways).length === 0 ? ways() : [],
    relay,
    handler,
    handlerCommand: env['CT_AGENT_SERVICE_HANDLER_CMD'],
    named,
  }
}

function problemOf(read: () => unknown): readonly EnvProblem[] {
  try {
    read()
    return []
  } catch (error) {
    return [{ name: BROKERED_ENV.frontDoor.name, message: toCtError(error).message }]
  }
}

async function readNamed(context: Context): Promise<NamedSubject | CtError | undefined> {
  const { env, operands, stateDir } = context
  if (operands.length === 0 && (env[TICKET_ENV.ticket.name] ?? '').trim() === '') return undefined
  try {
    const { peer: given } = await takePeer(context, 0)
    const name = looksLikeTicket(given) ? undefined : parsePeerName(given)
    if (name === undefined || 'problem' in name) return { given, ticket: parseTicket(given), peer: undefined }
    const peer = new PeerStore(stateDir).get(name.value)
    return { given, ticket: peer.kind === 'ticket' ? parseTicket(peer.ticket) : undefined, peer }
  } catch (error) {
    return toCtError(error)
  }
}

function placesOf({ ticket, peer }: NamedSubject): readonly BrokerPlace[] {
  return ticket?.rendezvous?.broker ?? (peer?.kind === 'member' ? peer.broker : [])
}

/** Where the peer may be dialled. */
export function addressesOf({ ticket, peer }: NamedSubject): readonly Address[] {
  return [...(peer?.proven ?? []), ...(peer?.kind === 'member' ? peer.addresses : []), ...(ticket?.addresses ?? [])]
}
