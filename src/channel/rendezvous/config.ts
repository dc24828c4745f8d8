/**
 * Settings of members of a channel through a broker.
 *
 * @module
 */

import { type Sealed } from '../../core/artefact.ts'
import { type EnvRow, parseListOf, parseSwitch } from '../../core/env.ts'
import { isCtError } from '../../core/errors.ts'
import { type Parsed, parseHexBytes } from '../../core/ids.ts'
import { parseBroker, parseFrontDoor } from '../broker-address.ts'
import { decodeGrant, type Grant } from '../membership/grant.ts'

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
  grant: {
    name: 'CT_CHANNEL_GRANT',
    about:
      'The operator’s grant for this member; a passed-on one with those it rests on before it, separated by commas',
    expects: 'hex signed grant',
    parse: parseListOf(parseGrant),
    flag: 'grant',
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
  const bytes = parseHexBytes(text, GRANT_BYTES)
  if ('problem' in bytes) return bytes
  try {
    return { value: decodeGrant(bytes.value) }
  } catch (error) {
    if (isCtError(error)) return { problem: error.message }
    throw error
  }
}
