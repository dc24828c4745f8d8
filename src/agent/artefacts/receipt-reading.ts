/**
 * Usage receipts for the commands that sign, verify and show them.
 *
 * @module
 */

import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { malformed } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import {
  type CapacityMatch,
  checkReceipt,
  parseReceipt,
  type ReceiptParty,
  receiptJson,
  USAGE_RECEIPT,
  type UsageReceipt,
} from '../../offers/index.ts'
import { type ArtefactReader } from './artefact-reading.ts'
import { type Field, shownTime } from './shown-fields.ts'

/** @param match what the receipt must be for; unless given, nothing is said of that */
export function receiptReader(match?: CapacityMatch): ArtefactReader {
  return {
    name: USAGE_RECEIPT.name,
    read: (text) => {
      const receipt = parseReceipt(text)
      const { body } = receipt
      return {
        json: receiptJson(receipt),
        fields: () => receiptFields(body),
        check: (options) => {
          checkReceipt(receipt, ['provider', 'consumer'], options)
          if (match !== undefined) refuseOther(body, match)
          return {
            form: 'current',
            facts: {
              provider: body.provider,
              consumer: body.consumer,
              units_consumed: body.unitsConsumed,
              match_ref: body.matchRef,
              issued_at: body.issuedAt,
            },
            line: receiptLine(body),
          }
        },
      }
    },
  }
}

/** Refuses a receipt that is not for this match, or for more than was matched. @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function refuseOther(body: UsageReceipt, match: CapacityMatch): void {
  for (const key of ['matchRef', 'provider', 'consumer', 'kind', 'model'] as const) {
    if (body[key] === match[key]) continue
    throw malformed(
      `${USAGE_RECEIPT.name}: expected the ${WORDS[key]} of the match, ${quote(match[key])}, found ${quote(body[key])}`,
    )
  }
  if (body.unitsConsumed > match.units) {
    throw malformed(
      `${USAGE_RECEIPT.name}: expected at most the ${match.units} units of the match, found ${body.unitsConsumed}`,
    )
  }
}

/** Which of the two this key is. @throws {CtError} `ERR_USAGE` for neither */
export function partyOf({ provider, consumer }: Pick<UsageReceipt, ReceiptParty>, key: HolderId): ReceiptParty {
  if (key === provider) return 'provider'
  if (key === consumer) return 'consumer'
  throw new CtError(
    'ERR_USAGE',
    `expected the key of the provider ${provider} or of the consumer ${consumer}, found that of ${key}`,
  )
}

const WORDS = {
  matchRef: 'match_ref',
  provider: 'provider',
  consumer: 'consumer',
  kind: 'kind',
  model: 'model',
} as const

function receiptLine({ provider, consumer, unitsConsumed, matchRef, issuedAt }: UsageReceipt): string {
  return `provider=${provider}  consumer=${consumer}  units=${unitsConsumed}  match_ref=${matchRef}  issued_at=${issuedAt}`
}

function receiptFields(body: UsageReceipt): readonly Field[] {
  return [
    ['provider', body.provider],
    ['consumer', body.consumer],
    ['kind', body.kind],
    ['model', body.model],
    ['units', body.unitsConsumed.toString()],
    ['match', body.matchRef],
    ['request', body.requestHash],
    ['response', body.responseHash],
    ['issued', shownTime(body.issuedAt)],
  ]
}
