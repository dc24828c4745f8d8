/**
 * A remembered peer, for people and for programs; no secret of it.
 *
 * @module
 */
import { brokerText, formatAddress, formatBroker, parseTicket } from '../../channel/index.ts'
import { type ExactObject } from '../../core/exact-json.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Rights } from '../../core/rights.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { type Peer } from '../peers/peer.ts'
import { type NamedPeer } from '../peers/peer-store.ts'

/** Neither kind has all of it. */
interface Facts {
  readonly holder: HolderId
  readonly rights: Rights | undefined
  readonly expiresAt: UnixSeconds | undefined
  readonly knownAs: string | undefined
  readonly addresses: readonly string[]
  readonly broker: readonly string[]
}

function factsOf(peer: Peer, brokerName: typeof brokerText): Facts {
  if (peer.kind === 'member') {
    const { holder, grant, knownAs, addresses, broker } = peer
    const { rights, expiresAt } = grant.body
    return {
      holder,
      rights,
      expiresAt,
      knownAs,
      addresses: [...peer.proven, ...addresses].map(formatAddress),
      broker: broker.map(brokerName),
    }
  }
  const { holder, addresses, rendezvous } = parseTicket(peer.ticket)
  return {
    holder,
    rights: rendezvous?.grant.body.rights,
    expiresAt: rendezvous?.grant.body.expiresAt,
    knownAs: undefined,
    addresses: [...peer.proven, ...addresses].map(formatAddress),
    broker: rendezvous?.broker.map(brokerName) ?? [],
  }
}

export function peerJson({ name, peer }: NamedPeer): ExactObject {
  const { holder, rights, expiresAt, knownAs, addresses, broker } = factsOf(peer, brokerText)
  return {
    name,
    kind: peer.kind,
    holder,
    ...(rights === undefined ? {} : { rights }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(knownAs === undefined ? {} : { known_as: knownAs }),
    addresses: [...new Set(addresses)],
    broker,
  }
}

export function peerLine({ name, peer }: NamedPeer): string {
  const { holder, rights, expiresAt, knownAs, addresses, broker } = factsOf(peer, formatBroker)
  const [where] = [...addresses, ...broker]
  const parts = [
    peer.kind === 'member' ? `member${knownAs === undefined || knownAs === '' ? '' : ` as ${knownAs}`}` : 'by ticket',
    `holder ${shortId(holder)}…`,
    ...(rights === undefined ? [] : [`rights ${rights}`]),
    ...(expiresAt === undefined ? [] : [`until ${shownTime(expiresAt)}`]),
    ...(where === undefined ? [] : [`at ${where}`]),
  ]
  return `${name}  ${parts.join(', ')}`
}
