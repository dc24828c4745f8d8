/**
 * A remembered peer as the text of its file.
 *
 * Holds: what is read is all there or refused; the reason repeats nothing of the text, which holds secrets.
 *
 * @module
 */
import {
  type Address,
  type BrokerPlace,
  brokerText,
  formatAddress,
  parseAddress,
  parseBroker,
  parseTicket,
} from '../../channel/index.ts'
import {
  decodeGrant,
  decodeStaple,
  decodeSuccession,
  encodeGrant,
  encodeStaple,
  encodeSuccession,
} from '../../channel/membership/index.ts'
import { fromHex, toHex } from '../../core/bytes.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ExactJson, malformed, parseExactJson, writeExactJson } from '../../core/exact-json.ts'
import { type Parsed } from '../../core/ids.ts'
import { holderId, listOf, oneOf, optional, type Read, shape, text, wholeNumber } from '../../core/json-shape.ts'
import { printable } from '../../core/printable.ts'
import { type MemberPeer, type Peer, type TicketPeer } from './peer.ts'

/** Another form is another number: an older program then refuses it instead of losing what it does not know. */
const FILE_VERSION = 1n
/** Of a member whose operator has changed its key. */
const SUCCESSIONS_VERSION = 2n
const MAX_KNOWN_AS_CHARS = 64
const NAME = 'peer'

export function peerText(peer: Peer): string {
  const version = peer.kind === 'member' && peer.successions.length > 0 ? SUCCESSIONS_VERSION : FILE_VERSION
  return `${writeExactJson({ version, kind: peer.kind, ...fieldsOf(peer) })}\n`
}

function fieldsOf(peer: Peer): { readonly [key: string]: ExactJson } {
  const proven = peer.proven.map(formatAddress)
  if (peer.kind === 'ticket') return { ticket: peer.ticket, proven }
  const { holder, addresses, broker, operator, invited, grant, staple, renewedAt, knownAs } = peer
  const successions = peer.successions.map((succession) => toHex(encodeSuccession(succession)))
  return {
    holder,
    addresses: addresses.map(formatAddress),
    proven,
    broker: broker.map(brokerText),
    operator,
    ...(successions.length === 0 ? {} : { successions }),
    invited,
    grant: toHex(encodeGrant(grant)),
    staple: toHex(encodeStaple(staple)),
    renewed_at: renewedAt,
    known_as: knownAs,
  }
}

/** The peer, or what is wrong with the text. */
export function parsePeer(content: string): Parsed<Peer> {
  try {
    const value = readJson(content)
    const { version, kind } = HEAD(value, NAME)
    if (version !== FILE_VERSION && version !== SUCCESSIONS_VERSION) {
      return {
        problem: `expected version ${FILE_VERSION} or ${SUCCESSIONS_VERSION}, found ${version}: another ct-agent wrote it`,
      }
    }
    return { value: kind === 'ticket' ? readTicketPeer(value) : readMemberPeer(value) }
  } catch (error) {
    if (isCtError(error, 'ERR_ARTEFACT_INVALID', 'ERR_TICKET_INVALID')) return { problem: error.message }
    throw error
  }
}

// The engine's own words repeat a part of the text.
function readJson(content: string): ExactJson {
  try {
    return parseExactJson(content, NAME)
  } catch (error) {
    throw isCtError(error) ? new CtError(error.code, 'expected JSON, found something else') : error
  }
}

function readTicketPeer(value: ExactJson): TicketPeer {
  const { ticket, proven } = TICKET_FIELDS(value, NAME)
  parseTicket(ticket)
  return { kind: 'ticket', ticket, proven }
}

function readMemberPeer(value: ExactJson): MemberPeer {
  const { renewed_at: renewedAt, known_as: knownAs, ...rest } = MEMBER_FIELDS(value, NAME)
  return { kind: 'member', ...rest, renewedAt, knownAs: printable(knownAs, MAX_KNOWN_AS_CHARS) }
}

function parsedAs<Value>(parse: (text: string) => Parsed<Value>): Read<Value> {
  return (value, at) => {
    const parsed = parse(text(value, at))
    if ('problem' in parsed) throw malformed(`${at}: ${parsed.problem}`)
    return parsed.value
  }
}

function hexOf<Value>(decode: (bytes: Uint8Array) => Value): Read<Value> {
  return (value, at) => {
    const bytes = fromHex(text(value, at))
    if ('problem' in bytes) throw malformed(`${at}: expected hex digits, found ${bytes.problem}`)
    return decode(bytes)
  }
}

const addresses = listOf<Address>(parsedAs(parseAddress))
const places = listOf<BrokerPlace>(parsedAs((place) => parseBroker(place)))

const HEAD = shape({ version: wholeNumber, kind: oneOf({ ticket: 'ticket', member: 'member' }) })
const TICKET_FIELDS = shape({ ticket: text, proven: addresses })
const MEMBER_FIELDS = shape({
  holder: holderId,
  addresses,
  proven: addresses,
  broker: places,
  operator: holderId,
  successions: optional(listOf(hexOf(decodeSuccession)), []),
  invited: holderId,
  grant: hexOf(decodeGrant),
  staple: hexOf(decodeStaple),
  renewed_at: wholeNumber,
  known_as: text,
})
