/**
 * What this agent calls its peers.
 *
 * Holds: a name is the name of a file on every system, stands for one peer in whatever case it is typed, and looks like
 * no ticket, no file and no flag.
 *
 * @module
 */
import { type Brand } from '../../core/brand.ts'
import { type HolderId, type Parsed } from '../../core/ids.ts'
import { isPlainName, MAX_NAME_CHARS } from '../plain-name.ts'

/** In lower case. */
export type PeerName = Brand<string, 'PeerName'>

/** Names of devices, which are no files on some systems, whatever follows a dot. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/
const TICKET_LIKE = /^ct\d/

/** The problem does not repeat the text, which may be a part of a ticket. */
export function parsePeerName(text: string): Parsed<PeerName> {
  const name = text.trim().toLowerCase()
  if (name.length === 0 || name.length > MAX_NAME_CHARS) {
    return { problem: `expected a name of 1 to ${MAX_NAME_CHARS} characters, found ${name.length}` }
  }
  if (!isPlainName(name)) {
    return { problem: 'expected a name of letters a to z and digits, with . _ - between them, found another character' }
  }
  if (TICKET_LIKE.test(name)) return { problem: 'expected a name that does not begin like a ticket' }
  if (DEVICES.test(name)) return { problem: 'expected a name that is not that of a device' }
  return { value: name as PeerName }
}

/** True for an operand that says where a ticket is, or is one. */
export function looksLikeTicket(operand: string): boolean {
  return operand === '-' || operand.startsWith('@') || /^\s*ct\d/i.test(operand)
}

/** Names for a peer that was given none, the best first: enough of its key to tell it from others. */
export function defaultNames(holder: HolderId): readonly [PeerName, ...PeerName[]] {
  const nameOf = (digits: number): PeerName => `peer-${holder.slice(0, digits)}` as PeerName
  return [nameOf(6), nameOf(10), nameOf(16), nameOf(26)]
}
