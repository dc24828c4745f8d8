/**
 * What a buyer makes of what a seller shows: is it signed, does it hold, is it the peer's own, and is nothing served
 * beyond it.
 *
 * @module
 */
import { type AgentCard, openCard, parseCard } from '../../cards/index.ts'
import { type OpenOptions, type Sealed } from '../../core/artefact.ts'
import { quote } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { slugOf } from '../../mcp/services/index.ts'
import { type CapacityOffer, describeService, nameOfService, openOffer, parseOffer } from '../../offers/index.ts'

/** What the peer sent, as JSON texts. */
export interface Shown {
  readonly offer: string
  /** Absent when the peer serves no card. */
  readonly card: string | undefined
  /** Names of the tools that it lists. */
  readonly tools: readonly string[]
}

export interface Examination {
  readonly offer: Sealed<CapacityOffer>
  readonly card: Sealed<AgentCard> | undefined
  /** Everything that is wrong; none of it may be trusted then. */
  readonly findings: readonly CtError[]
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` when the offer or the card cannot be read at all */
export function examine(shown: Shown, peer: HolderId, options: Omit<OpenOptions, 'signer'>): Examination {
  const offer = parseOffer(shown.offer)
  const card = shown.card === undefined ? undefined : parseCard(shown.card)
  const findings = [
    ...findingOf(() => openOffer(offer, options)),
    ...signerFinding('offer', offer.body.holder, peer),
    ...(card === undefined
      ? []
      : [...findingOf(() => openCard(card, options)), ...signerFinding('card', card.body.holder, peer)]),
    ...catalogFindings(offer.body, shown.tools),
  ]
  return { offer, card, findings }
}

const SERVICE_PREFIX = 'service/'

/** A buyer sees only slugs: of all that is declared, no two kinds may share one. */
function catalogFindings({ services }: CapacityOffer, tools: readonly string[]): readonly CtError[] {
  const kinds = new Map(services.map((kind) => [describeService(kind), kind])).values()
  const declared = [...kinds].map((kind) => slugOf(nameOfService(kind)))
  const twice = declared.filter((slug, index) => declared.indexOf(slug) !== index)
  const served = tools.filter((name) => name.startsWith(SERVICE_PREFIX))
  const beyond = served.filter((name) => !declared.includes(name.slice(SERVICE_PREFIX.length)))
  return [
    ...(beyond.length === 0
      ? []
      : [exceeded(`the peer serves ${list(beyond)}, which its signed offer does not declare`)]),
    ...(twice.length === 0
      ? []
      : [
          exceeded(
            `the offer declares several services that are all ${list(twice.map((slug) => SERVICE_PREFIX + slug))}`,
          ),
        ]),
  ]
}

function exceeded(message: string): CtError {
  return new CtError('ERR_CATALOG_EXCEEDED', message)
}

function signerFinding(what: string, signer: HolderId, peer: HolderId): readonly CtError[] {
  if (signer === peer) return []
  return [new CtError('ERR_SIGNER_MISMATCH', `the ${what} is one of ${signer}, and the peer is ${peer}`)]
}

function findingOf(check: () => unknown): readonly CtError[] {
  try {
    check()
    return []
  } catch (error) {
    if (isCtError(error)) return [error]
    throw error
  }
}

function list(names: readonly string[]): string {
  const shown = [...new Set(names)].slice(0, MAX_SHOWN_NAMES).map(quote).join(', ')
  return names.length > MAX_SHOWN_NAMES ? `${shown} and others` : shown
}

const MAX_SHOWN_NAMES = 10
