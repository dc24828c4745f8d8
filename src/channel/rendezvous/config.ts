/**
 * Settings of members of a channel through a broker.
 *
 * @module
 */

import { type Sealed } from '../../core/artefact.ts'
import { type EnvRow, parseListOf, parseSwitch, parseText } from '../../core/env.ts'
import { isCtError } from '../../core/errors.ts'
import { type Parsed, parseHexBytes } from '../../core/ids.ts'
import { parseBroker, parseFrontDoor } from '../broker-address.ts'
import { decodeGrant, type Grant } from '../membership/grant.ts'
import { decodeSuccession, type SignedSuccession, SUCCESSION_BYTES } from '../membership/succession.ts'

const GRANT_BYTES = 139

export const BROKERED_ENV = {
  broker: {
    name: 'CT_CHANNEL_BROKER',
    about: 'Where the broker is, as ct-agent broker prints it; several ways to it separated by commas',
    expects: 'host:port or a multiaddr',
    parse: parseListOf((text) => parseBroker(text)),
    flag: 'broker',
  },
  relay: {
    name: 'CT_CHANNEL_RELAY',
    about: 'Where the relay is, when it is not the broker; the same for both members',
    expects: 'host:port or a multiaddr',
    parse: parseListOf((text) => parseBroker(text)),
    flag: 'relay',
  },
  frontDoor: {
    name: 'CT_CHANNEL_FRONT_DOOR',
    about:
      'Another way to the broker, for networks that let only port 443 out: WebSocket over TLS unless it says otherwise',
    expects: 'host:port or a multiaddr',
    parse: parseListOf(parseFrontDoor),
    flag: 'front-door',
  },
  frontDoorCert: {
    name: 'CT_CHANNEL_FRONT_DOOR_CERT',
    about:
      'Certificate to trust at the front door besides those that everybody trusts: its own, or of the authority that signed it',
    expects: 'a PEM file, or hex DER',
    parse: parseText,
    flag: 'front-door-cert',
  },
  frontDoorOnly: {
    name: 'CT_CHANNEL_FRONT_DOOR_ONLY',
    about: 'Go to the broker through the front door alone, never to its TCP address',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'front-door-only',
  },
  grant: {
    name: 'CT_CHANNEL_GRANT',
    about:
      'The operator’s grant for this member; a passed-on one with those it rests on before it, separated by commas',
    expects: 'hex signed grant',
    parse: parseListOf(parseGrant),
    flag: 'grant',
  },
  revocations: {
    name: 'CT_CHANNEL_REVOCATIONS',
    about:
      'File with the operator’s revocation list; read again when it changes, and written when the broker has a newer one',
    expects: 'a path',
    parse: parseText,
    flag: 'revocations',
  },
  successions: {
    name: 'CT_CHANNEL_SUCCESSIONS',
    about:
      'Key successions to know of and to show: of the operator’s key, and of this member’s, each from the oldest on, separated by commas',
    expects: 'hex',
    parse: parseListOf(parseSuccession),
    flag: 'successions',
  },
  relayOnly: {
    name: 'CT_CHANNEL_RELAY_ONLY',
    about: 'Listen nowhere and be reached through the relay alone; ct-agent channel also does when no address is given',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'relay-only',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

function parseGrant(text: string): Parsed<Sealed<Grant>> {
  return parseSigned(text, GRANT_BYTES, decodeGrant)
}

function parseSuccession(text: string): Parsed<SignedSuccession> {
  return parseSigned(text, SUCCESSION_BYTES, decodeSuccession)
}

function parseSigned<Value>(text: string, length: number, decode: (bytes: Uint8Array) => Value): Parsed<Value> {
  const bytes = parseHexBytes(text, length)
  if ('problem' in bytes) return bytes
  try {
    return { value: decode(bytes.value) }
  } catch (error) {
    if (isCtError(error)) return { problem: error.message }
    throw error
  }
}
