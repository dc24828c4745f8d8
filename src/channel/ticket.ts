/**
 * The one string that leads to a serving agent: its key, its addresses, and a secret that proves the invitation.
 *
 * Form: `ct1` and the lower-case base32 (RFC 4648, no padding) of a CBOR map followed by the first four bytes of the
 * SHA-256 of that map. Unknown keys are ignored, so the map may grow; another digit after `ct` is another form.
 *
 * Holds: the secret itself never travels. A caller sends an HMAC of both keys under it, which is worth nothing to
 * anybody who is not one of the two.
 *
 * @module
 */
import { createHash, createHmac } from 'node:crypto'
import { decode, encode } from 'cborg'
import { base32 } from 'multiformats/bases/base32'
import { equalBytes, toHex } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'
import { type HolderId, KEY_BYTES } from '../core/ids.ts'
import { SecretKey } from '../core/keys.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'

export interface Ticket {
  /** The serving member; the handshake proves it. */
  readonly holder: HolderId
  /** Where it listened when the ticket was made, best first. */
  readonly addresses: readonly Address[]
  /** Shared by all who have the ticket; absent when the server trusts named keys only. */
  readonly secret?: SecretKey
}

const PREFIX = 'ct1'
const CHECKSUM_BYTES = 4
const MAX_TICKET_CHARS = 4_096
const MAX_ADDRESSES = 16
const PROOF_DOMAIN = 'ct-agent-ticket-proof-v1'

/** The ticket with as many of its addresses as fit; there must be at least one. */
export function formatTicket(ticket: Ticket): string {
  const addresses = ticket.addresses.slice(0, MAX_ADDRESSES)
  if (addresses.length === 0) throw new RangeError('a ticket without an address leads nowhere')
  const text = encodeTicket({ ...ticket, addresses })
  return text.length <= MAX_TICKET_CHARS ? text : formatTicket({ ...ticket, addresses: addresses.slice(0, -1) })
}

function encodeTicket({ holder, addresses, secret }: Ticket): string {
  const map = encode({
    h: Buffer.from(holder, 'hex'),
    a: addresses.map(formatAddress),
    ...(secret === undefined ? {} : { s: secret.reveal() }),
  })
  return PREFIX + base32.baseEncode(Buffer.concat([map, checksum(map)]))
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
    value = decode(bytes, {
      useMaps: true,
      allowIndefinite: false,
      allowUndefined: false,
      rejectDuplicateMapKeys: true,
    })
  } catch (error) {
    throw invalid('its content cannot be read', error)
  }
  if (!(value instanceof Map)) throw invalid('its content cannot be read')
  const holder: unknown = value.get('h')
  if (!(holder instanceof Uint8Array && holder.length === KEY_BYTES))
    throw invalid(`expected a key of ${KEY_BYTES} bytes in it`)
  const secret: unknown = value.get('s')
  if (secret !== undefined && !(secret instanceof Uint8Array && secret.length === KEY_BYTES)) {
    throw invalid(`expected a secret of ${KEY_BYTES} bytes in it`)
  }
  return {
    holder: toHex(holder) as HolderId,
    addresses: readAddresses(value.get('a')),
    ...(secret === undefined ? {} : { secret: new SecretKey(secret) }),
  }
}

function readAddresses(list: unknown): readonly Address[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_ADDRESSES)
    throw invalid(`expected 1 to ${MAX_ADDRESSES} addresses in it`)
  return list.map((entry: unknown) => {
    const parsed = typeof entry === 'string' ? parseAddress(entry) : { problem: 'expected text' }
    if ('problem' in parsed) throw invalid(`an address in it is malformed: ${parsed.problem}`)
    return parsed.value
  })
}

function checksum(map: Uint8Array): Uint8Array {
  return createHash('sha256').update(map).digest().subarray(0, CHECKSUM_BYTES)
}

function invalid(problem: string, cause?: unknown): CtError {
  return new CtError('ERR_TICKET_INVALID', `not a usable ticket: ${problem}`, cause === undefined ? {} : { cause })
}
