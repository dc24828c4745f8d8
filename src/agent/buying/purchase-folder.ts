/**
 * The folder in which a buyer keeps a purchase: `offer.json`, `card.json`, `bid.json` and `match.json`.
 *
 * Holds: one folder, one purchase. Nothing of another is ever written over: without its offer and its bid nobody could
 * compute its match again.
 *
 * @module
 */
import { dirname, join } from 'node:path'
import { openUntimed, type Sealed, type Verified } from '../../core/artefact.ts'
import { quote } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ExactObject, writeExactJson } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import { generateInstanceId } from '../../core/keys.ts'
import {
  bidJson,
  CAPACITY_OFFER,
  type CapacityBid,
  type CapacityOffer,
  parseBid,
  parseOffer,
} from '../../offers/index.ts'
import { fromFile, isThere, readText } from '../input.ts'
import { makeOutputFolder, writeOutput } from '../output.ts'

export type Keep = (name: 'offer' | 'card' | 'bid' | 'match', json: ExactObject) => void

/**
 * Makes the folder at once, so that nothing is bought that cannot be kept.
 *
 * @param submitted a bid that was signed before: the folder may be its own
 * @throws {CtError} `ERR_USAGE` when it holds another purchase, or cannot be made
 */
export async function openPurchaseFolder(
  folder: string | undefined,
  submitted: Sealed<CapacityBid> | undefined,
): Promise<Keep> {
  if (folder === undefined) return () => {}
  const bidFile = join(folder, 'bid.json')
  const found = [bidFile, join(folder, 'match.json')].find(isThere)
  if (found !== undefined && !(submitted !== undefined && (await isBidIn(bidFile, submitted)))) {
    throw new CtError(
      'ERR_USAGE',
      `expected a folder for a new purchase, found ${quote(found)}; name another one with --save, or submit its own bid again with --submit ${quote(bidFile)}`,
    )
  }
  makeOutputFolder(folder)
  return (name, json) => writeOutput(join(folder, `${name}.json`), `${writeExactJson(json)}\n`, generateInstanceId())
}

/** The offer that lies beside a bid that was kept, if the seller signed it: the match may follow from it. */
export async function offerBeside(bidFile: string, seller: HolderId): Promise<Verified<CapacityOffer> | undefined> {
  const path = join(dirname(bidFile), 'offer.json')
  if (bidFile === '-' || !isThere(path)) return undefined
  try {
    return openUntimed(CAPACITY_OFFER, parseOffer(await textOf(path)), { signer: seller })
  } catch (error) {
    if (isCtError(error)) return undefined
    throw error
  }
}

async function isBidIn(path: string, bid: Sealed<CapacityBid>): Promise<boolean> {
  if (!isThere(path)) return false
  try {
    return writeExactJson(bidJson(parseBid(await textOf(path)))) === writeExactJson(bidJson(bid))
  } catch (error) {
    if (isCtError(error)) return false
    throw error
  }
}

function textOf(path: string): Promise<string> {
  return fromFile(path, (source) => readText(source, quote(path)))
}
