import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { offerBeside, openPurchaseFolder } from '../../src/agent/buying/purchase-folder.ts'
import { seal } from '../../src/core/artefact.ts'
import { isCtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { u64 } from '../../src/core/u64.ts'
import { bidJson } from '../../src/offers/bid.ts'
import { CAPACITY_OFFER, offerJson } from '../../src/offers/offer.ts'
import { bidOf } from '../offers/selling.ts'
import { START, terms } from '../offers/settings.ts'
import { buyer, seller, stranger } from '../offers/signed.ts'
import { temporaryFolder } from './artefact-files.ts'

const bid = bidOf()
const other = bidOf({ units: u64(1) })

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), 'purchase')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

async function refusal(folder: string, submitted?: typeof bid): Promise<string> {
  try {
    await openPurchaseFolder(folder, submitted)
    return ''
  } catch (error) {
    if (isCtError(error, 'ERR_USAGE')) return error.message
    throw error
  }
}

describe('openPurchaseFolder', () => {
  it('keeps nothing without a folder, and makes one that is not there', async () => {
    const keep = await openPurchaseFolder(undefined, undefined)
    keep('bid', bidJson(bid))
    const folder = join(temporaryFolder(), 'a', 'b')
    const keepThere = await openPurchaseFolder(folder, undefined)
    expect(existsSync(folder)).toBe(true)
    keepThere('bid', bidJson(bid))
    expect(readFileSync(join(folder, 'bid.json'), 'utf8')).toBe(`${writeExactJson(bidJson(bid))}\n`)
  })

  it('takes a folder in which an offer was kept without a purchase', async () => {
    expect(await refusal(folderWith({ 'offer.json': '{}', 'card.json': '{}' }))).toBe('')
  })

  const text = writeExactJson(bidJson(bid))
  const occupied: readonly (readonly [string, Readonly<Record<string, string>>, typeof bid | undefined])[] = [
    ['a bid', { 'bid.json': text }, undefined],
    ['a match', { 'match.json': '{}' }, undefined],
    ['a match, for a bid that was made before', { 'match.json': '{}' }, bid],
    ['the bid of another purchase', { 'bid.json': text }, other],
    ['what is no bid', { 'bid.json': 'x' }, bid],
  ]
  for (const [name, files, submitted] of occupied) {
    it(`refuses a folder that holds ${name}, and says what to do`, async () => {
      const folder = folderWith(files)
      const message = await refusal(folder, submitted)
      expect(message).toContain('name another one with --save')
      expect(message).toContain(`--submit ${JSON.stringify(join(folder, 'bid.json'))}`)
    })
  }

  it('takes the folder of the very bid that is submitted again', async () => {
    expect(await refusal(folderWith({ 'bid.json': `${text}\n`, 'match.json': '{}' }), bid)).toBe('')
  })
})

describe('offerBeside', () => {
  const offer = seal(
    CAPACITY_OFFER,
    { holder: seller.id, ...terms, issuedAt: u64(START), expiresAt: u64(START + 1) },
    seller.secret,
  )
  const kept = () => join(folderWith({ 'offer.json': writeExactJson(offerJson(offer)) }), 'bid.json')

  it('finds the offer that the seller signed, though it has expired', async () => {
    expect((await offerBeside(kept(), seller.id))?.body).toEqual(offer.body)
  })

  it('finds none of another, none that cannot be read, and none beside stdin', async () => {
    expect(await offerBeside(kept(), stranger.id)).toBeUndefined()
    expect(await offerBeside(kept(), buyer.id)).toBeUndefined()
    expect(await offerBeside(join(folderWith({ 'offer.json': '{' }), 'bid.json'), seller.id)).toBeUndefined()
    expect(await offerBeside(join(folderWith({}), 'bid.json'), seller.id)).toBeUndefined()
    expect(await offerBeside('-', seller.id)).toBeUndefined()
  })
})
