/**
 * What a buyer is told about an offer, a card and a match.
 *
 * @module
 */
import { cardJson } from '../../cards/index.ts'
import { type Sealed } from '../../core/artefact.ts'
import { type CtError } from '../../core/errors.ts'
import { type ExactObject } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import { printable } from '../../core/printable.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import {
  bidJson,
  type CapacityBid,
  type CapacityMatch,
  type CapacityOffer,
  describeService,
  matchJson,
  offerJson,
} from '../../offers/index.ts'
import { type Examination } from './offer-examination.ts'

export type Report = Examination & {
  readonly peer: HolderId
  readonly tools: readonly string[]
  readonly bid: Sealed<CapacityBid> | undefined
  readonly match: CapacityMatch | undefined
  /** Why there is a bid and no match. */
  readonly failure?: CtError
}

export function reportJson({ peer, offer, card, tools, findings, bid, match, failure }: Report): ExactObject {
  return {
    valid: findings.length === 0 && failure === undefined,
    peer,
    findings: all(findings, failure).map(({ code, message }) => ({ code, message })),
    offer: offer === undefined ? null : offerJson(offer),
    card: card === undefined ? null : cardJson(card),
    tools,
    ...(bid === undefined ? {} : { bid: bidJson(bid) }),
    ...(match === undefined ? {} : { match: matchJson(match) }),
  }
}

/** Lines for people; a peer's words in them are on one line each. */
export function reportText(report: Report, now: UnixSeconds): string {
  const { peer, offer, card, tools, findings, match, failure } = report
  const rows: Row[] = [
    ['peer', peer],
    ...(offer === undefined ? [['offer', 'none that can be read'] as const] : offerRows(offer.body, findings, now)),
    [
      'card',
      card === undefined
        ? 'none'
        : `roles ${names(card.body.roleTags)}; skills ${names(card.body.skills.map(({ id }) => id))}`,
    ],
    ['serves', names(tools)],
    ...all(findings, failure).map(({ code, message }) => ['problem', `${code}: ${shown(message)}`] as const),
    ...(match === undefined
      ? []
      : [
          ['match', match.matchRef] as const,
          [
            'bought',
            `${match.units} units of ${shown(match.model)} for ${match.totalPrice} ${shown(offer?.body.currency ?? '')}`,
          ] as const,
        ]),
  ]
  return rows.map(([name, value]) => `${name.padEnd(NAME_COLUMNS)}${value}`).join('\n')
}

type Row = readonly [name: string, value: string]

function offerRows(body: CapacityOffer, findings: Report['findings'], now: UnixSeconds): readonly Row[] {
  return [
    ['offer', findings.length === 0 ? `signed by the peer, ${holdsFor(body.expiresAt, now)}` : 'not to be trusted'],
    ['kind', body.kind],
    ['models', names(body.models)],
    ['units', body.units.toString()],
    ['floor', `${body.minPrice} ${shown(body.currency)} a bid`],
    ['services', names(body.services.map(describeService))],
  ]
}

const NAME_COLUMNS = 10

function all(findings: readonly CtError[], failure: CtError | undefined): readonly CtError[] {
  return failure === undefined ? findings : [...findings, failure]
}

function holdsFor(expiresAt: UnixSeconds, now: UnixSeconds): string {
  const seconds = expiresAt - now
  if (seconds < 120n) return `holds for ${seconds} s`
  return seconds < 7_200n ? `holds for ${seconds / 60n} min` : `holds for ${seconds / 3_600n} h`
}

function names(list: readonly string[]): string {
  if (list.length === 0) return 'none'
  const rest = list.length - MAX_NAMES
  return `${list.slice(0, MAX_NAMES).map(shown).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

const MAX_NAMES = 20

function shown(text: string): string {
  return printable(text, MAX_CHARS)
}

const MAX_CHARS = 300
