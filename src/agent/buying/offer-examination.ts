/**
 * What a buyer makes of what a seller shows: is it signed, does it hold, is it the peer's own, and is nothing served
 * beyond it.
 *
 * @module
 */
import { type AgentCard, openCard, parseCard } from '../../cards/index.ts'
import { type OpenOptions, type Sealed, type Verified } from '../../core/artefact.ts'
import { quote } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { slugOf } from '../../mcp/services/index.ts'
import { type CapacityOffer, describeService, nameOfService, openOffer, parseOffer } from '../../offers/index.ts'

/** What the peer sent, as JSON texts, or why there is none. */
export interface Shown {
  readonly offer: string | CtError
  /** Absent when the peer serves no card. */
  readonly card: string | CtError | undefined
  /** Names of the tools that it lists. */
  readonly tools: readonly string[]
}

export type Examination = Evidence & Outcome

interface Evidence {
  /** `undefined` when there is none that can be read. */
  readonly offer: Sealed<CapacityOffer> | undefined
  readonly card: Sealed<AgentCard> | undefined
}

type Outcome =
  | {
      /** The offer, when nothing is wrong. */
      readonly trusted: Verified<CapacityOffer>
      readonly findings: readonly []
    }
  | {
      readonly trusted: undefined
      /** Everything that is wrong; none of it may be trusted then. */
      readonly findings: readonly [CtError, ...(readonly CtError[])]
    }

export function examine(shown: Shown, peer: HolderId, options: Omit<OpenOptions, 'signer'>): Examination {
  const findings: CtError[] = []
  const attempt = <Value>(work: () => Value): Value | undefined => {
    try {
      return work()
    } catch (error) {
      if (!isCtError(error)) throw error
      findings.push(error)
      return undefined
    }
  }
  const { offer: offerText, card: cardText, tools } = shown
  const offer = attempt(() => parseOffer(orThrow(offerText)))
  const opened = offer && attempt(() => openOffer(offer, options))
  if (offer !== undefined) findings.push(...signerFinding('offer', offer.body.holder, peer))
  const card = cardText === undefined ? undefined : attempt(() => parseCard(orThrow(cardText)))
  if (card !== undefined) {
    attempt(() => openCard(card, options))
    findings.push(...signerFinding('card', card.body.holder, peer))
  }
  if (offer !== undefined) findings.push(...catalogFindings(offer.body, tools))
  return { offer, card, ...outcomeOf(opened, findings) }
}

function outcomeOf(trusted: Verified<CapacityOffer> | undefined, [first, ...others]: readonly CtError[]): Outcome {
  if (first !== undefined) return { trusted: undefined, findings: [first, ...others] }
  if (trusted === undefined) throw new TypeError('an offer that does not open is a finding')
  return { trusted, findings: [] }
}

function orThrow(text: string | CtError): string {
  if (typeof text !== 'string') throw text
  return text
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

function list(names: readonly string[]): string {
  const shown = [...new Set(names)].slice(0, MAX_SHOWN_NAMES).map(quote).join(', ')
  return names.length > MAX_SHOWN_NAMES ? `${shown} and others` : shown
}

const MAX_SHOWN_NAMES = 10
