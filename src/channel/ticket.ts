/**
 * The one string that leads to a serving agent: its key, its addresses, a secret that proves the invitation, and, where
 * it can be met at a broker, what is needed there.
 *
 * Form: `ct1` and the lower-case base32 (RFC 4648, no padding) of a CBOR map followed by the first four bytes of the
 * SHA-256 of that map. Unknown keys are ignored, so the map may grow; another digit after `ct` is another form.
 *
 * Holds: the secret itself never travels. A caller sends an HMAC of both keys under it, which is worth nothing to
 * anybody who is not one of the two. With a broker the secret is the seed of the key that was invited: the caller signs
 * a grant for its own key with it.
 *
 * @module
 */
import { createHash, createHmac } from 'node:crypto'
import { encode } from 'cborg'
import { base32 } from 'multiformats/bases/base32'
import { type Sealed } from '../core/artefact.ts'
import { equalBytes, toHex } from '../core/bytes.ts'
import { CtError, isCtError } from '../core/errors.ts'
import { type HolderId, KEY_BYTES } from '../core/ids.ts'
import { SecretKey } from '../core/keys.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'
import { type BrokerPlace, brokerText, parseBroker } from './broker-address.ts'
import { decodeGrant, encodeGrant, type Grant } from './membership/grant.ts'
import { encodeSuccession, MAX_SUCCESSIONS, parseSuccessions, type SignedSuccession } from './membership/succession.ts'
import { decodeStrictly } from './strict-cbor.ts'

export interface Ticket {
  /** The serving member; the handshake proves it. */
  readonly holder: HolderId
  /** Where it listened when the ticket was made, best first. */
  readonly addresses: readonly Address[]
  /** Shared by all who have the ticket; absent when the server trusts named keys only. */
  readonly secret?: SecretKey
  /** How to meet it at a broker; only beside a secret. */
  readonly rendezvous?: Rendezvous
}

export interface Rendezvous {
  /** Where the broker is, best first; at least one. */
  readonly broker: readonly BrokerPlace[]
  /** The operator's first key, by which the channel is known. */
  readonly operator: HolderId
  /** From that key to the one that signed the grant, if it is another. */
  readonly successions?: readonly SignedSuccession[]
  /** The operator's, for the key whose seed the secret is. It also says which channel it is. */
  readonly grant: Sealed<Grant>
  /** The ticket admits nobody to the tools: it is redeemed, as often as the invitation says, for a grant of one's own. */
  readonly isInvitation?: true
}

const PREFIX = 'ct1'
const CHECKSUM_BYTES = 4
const MAX_TICKET_CHARS = 4_096
const MAX_ADDRESSES = 16
const MAX_BROKER_WAYS = 8
const PROOF_DOMAIN = 'ct-agent-ticket-proof-v1'

/** The ticket with as many of its addresses as fit; there must be at least one, or a broker. */
export function formatTicket(ticket: Ticket): string {
  const { rendezvous, secret } = ticket
  const addresses = ticket.addresses.slice(0, MAX_ADDRESSES)
  const broker = rendezvous?.broker.slice(0, MAX_BROKER_WAYS) ?? []
  if (addresses.length + broker.length === 0) throw new RangeError('a ticket without an address leads nowhere')
  if (rendezvous !== undefined && (secret === undefined || broker.length === 0)) {
    throw new RangeError('a rendezvous needs a broker and the secret of who is invited')
  }
  const text = encodeTicket({
    ...ticket,
    addresses,
    ...(rendezvous === undefined ? {} : { rendezvous: { ...rendezvous, broker } }),
  })
  if (text.length <= MAX_TICKET_CHARS) return text
  if (rendezvous === undefined || addresses.length > 0) {
    return formatTicket({ ...ticket, addresses: addresses.slice(0, -1) })
  }
  return formatTicket({ ...ticket, rendezvous: { ...rendezvous, broker: broker.slice(0, -1) } })
}

function encodeTicket({ holder, addresses, secret, rendezvous }: Ticket): string {
  const map = encode({
    h: Buffer.from(holder, 'hex'),
    a: addresses.map(formatAddress),
    ...(secret === undefined ? {} : { s: secret.reveal() }),
    ...(rendezvous === undefined ? {} : rendezvousFields(rendezvous)),
  })
  return PREFIX + base32.baseEncode(Buffer.concat([map, checksum(map)]))
}

function rendezvousFields({ broker, operator, successions = [], grant, isInvitation }: Rendezvous) {
  return {
    b: broker.map(brokerText),
    o: Buffer.from(operator, 'hex'),
    g: encodeGrant(grant),
    ...(successions.length === 0 ? {} : { n: successions.slice(-MAX_SUCCESSIONS).map(encodeSuccession) }),
    ...(isInvitation === undefined ? {} : { i: true }),
  }
}

/**
 * Reads a ticket as people paste it: upper or lower case, with blanks or line breaks in it.
 *
 * @throws {CtError} `ERR_TICKET_INVALID`, without repeating the text
 */
export function parseTicket(text: string): Ticket {
  const compact = text
    .slice(0, MAX_TICKET_CHARS * 2)
    .replace(/\s+/g, '')
    .toLowerCase()
  if (!compact.startsWith(PREFIX)) {
    const form = /^ct\d/.test(compact)
      ? `a ticket of form ${compact.slice(0, 3)}`
      : `${compact.length} characters that do not`
    throw invalid(`expected a ticket that begins with ${PREFIX}, found ${form}`)
  }
  if (compact.length > MAX_TICKET_CHARS) throw invalid(`expected at most ${MAX_TICKET_CHARS} characters, found more`)
  const bytes = decodeBase32(compact.slice(PREFIX.length))
  const map = bytes.subarray(0, Math.max(0, bytes.length - CHECKSUM_BYTES))
  if (bytes.length <= CHECKSUM_BYTES || !equalBytes(bytes.subarray(map.length), checksum(map))) {
    throw invalid('the checksum does not fit: the ticket is cut short or has a wrong character')
  }
  return fromMap(map)
}

/** Proof of the ticket's secret between these two members. */
export function ticketProof(secret: SecretKey, caller: HolderId, server: HolderId): Uint8Array {
  return createHmac('sha256', secret.reveal()).update(`${PROOF_DOMAIN}|${caller}|${server}`).digest()
}

function decodeBase32(text: string): Uint8Array {
  try {
    return base32.baseDecode(text)
  } catch (error) {
    throw invalid('expected letters a to z and digits 2 to 7 after the beginning', error)
  }
}

function fromMap(bytes: Uint8Array): Ticket {
  let value: unknown
  try {
    value = decodeStrictly(bytes)
  } catch (error) {
    throw invalid('its content cannot be read', error)
  }
  if (!(value instanceof Map)) throw invalid('its content cannot be read')
  const secret = readBytes(value, 's', 'a secret')
  const rendezvous = readRendezvous(value)
  if (rendezvous !== undefined && secret === undefined) throw invalid(`expected a secret of ${KEY_BYTES} bytes in it`)
  return {
    holder: readKey(value, 'h', 'a key'),
    addresses: readAddresses(value.get('a'), rendezvous === undefined ? 1 : 0),
    ...(secret === undefined ? {} : { secret: new SecretKey(secret) }),
    ...(rendezvous === undefined ? {} : { rendezvous }),
  }
}

type Fields = ReadonlyMap<unknown, unknown>

function readBytes(fields: Fields, key: string, what: string): Uint8Array | undefined {
  const value = fields.get(key)
  if (value === undefined || (value instanceof Uint8Array && value.length === KEY_BYTES)) return value
  throw invalid(`expected ${what} of ${KEY_BYTES} bytes in it`)
}

function readKey(fields: Fields, key: string, what: string): HolderId {
  const bytes = readBytes(fields, key, what)
  if (bytes === undefined) throw invalid(`expected ${what} of ${KEY_BYTES} bytes in it`)
  return toHex(bytes) as HolderId
}

function readAddresses(list: unknown, least: 0 | 1): readonly Address[] {
  return readTexts(list, { least, most: MAX_ADDRESSES, what: 'addresses' }).map((text) => {
    const parsed = parseAddress(text)
    if ('problem' in parsed) throw invalid(`an address in it is malformed: ${parsed.problem}`)
    return parsed.value
  })
}

/** All of it or nothing. */
function readRendezvous(fields: Fields): Rendezvous | undefined {
  const [broker, grant] = [fields.get('b'), fields.get('g')]
  if (broker === undefined && grant === undefined && fields.get('o') === undefined) return undefined
  if (!(grant instanceof Uint8Array)) throw invalid('expected a grant in it')
  try {
    const successions = parseSuccessions(fields.get('n'))
    return {
      broker: readTexts(broker, { least: 1, most: MAX_BROKER_WAYS, what: 'ways to a broker' }).map(readBroker),
      operator: readKey(fields, 'o', 'the key of an operator'),
      grant: decodeGrant(grant),
      ...(successions.length === 0 ? {} : { successions }),
      ...(fields.get('i') === true ? { isInvitation: true } : {}),
    }
  } catch (error) {
    if (isCtError(error, 'ERR_ARTEFACT_INVALID')) throw invalid(error.message, error)
    throw error
  }
}

function readBroker(text: string): BrokerPlace {
  const parsed = parseBroker(text)
  if ('problem' in parsed) throw invalid(`a way to a broker in it is malformed: ${parsed.problem}`)
  return parsed.value
}

function readTexts(
  list: unknown,
  { least, most, what }: { readonly least: number; readonly most: number; readonly what: string },
): readonly string[] {
  if (!Array.isArray(list) || list.length < least || list.length > most) {
    throw invalid(`expected ${least} to ${most} ${what} in it`)
  }
  return list.map((entry: unknown) => {
    if (typeof entry !== 'string') throw invalid(`expected text among the ${what} in it`)
    return entry
  })
}

function checksum(map: Uint8Array): Uint8Array {
  return createHash('sha256').update(map).digest().subarray(0, CHECKSUM_BYTES)
}

function invalid(problem: string, cause?: unknown): CtError {
  return new CtError('ERR_TICKET_INVALID', `not a usable ticket: ${problem}`, cause === undefined ? {} : { cause })
}
