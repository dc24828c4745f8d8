/**
 * `ct-agent offer book`: what this agent sold; and with `--reset`, the book begun anew.
 *
 * @module
 */
import { type EnvProblem, refuseProblems } from '../../core/env.ts'
import { type ExactObject, parseExactJson, writeExactJson } from '../../core/exact-json.ts'
import { openBook, parseMatch, type Sale } from '../../offers/index.ts'
import { readSigner, signerOf } from '../artefacts/signing-key.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { printResult } from '../result.ts'
import { bookPath } from '../serving/market.ts'

export async function offerBook({ io, env, stateDir, switches }: Context): Promise<number> {
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  refuseProblems(problems)
  const path = bookPath(stateDir, signerOf(given, stateDir))
  const book = await openBook(path)
  try {
    const { sold, sales } = book.update((page) => {
      if (switches.has('reset')) page.clear()
      return { sold: page.sold(), sales: page.latestSales(MAX_SALES_SHOWN) }
    })
    if (switches.has('reset')) notice(io, `ct-agent: the book of sales ${path} is begun anew: nothing is sold`)
    const text = switches.has('json')
      ? writeExactJson({ sold, sales: sales.map(saleJson) })
      : [`sold      ${sold} units`, ...sales.map(saleLine)].join('\n')
    await printResult(io, text)
    return 0
  } finally {
    book.close()
  }
}

/** The latest; a book may have many thousands. */
const MAX_SALES_SHOWN = 1_000

function saleJson({ match, expiresAt }: Sale): ExactObject {
  return { match: parseExactJson(match, 'match'), bid_expires_at: expiresAt }
}

function saleLine({ match }: Sale): string {
  const { matchRef, consumer, model, units, totalPrice } = parseMatch(match)
  return `${matchRef}  ${units} units of ${JSON.stringify(model)} for ${totalPrice} to ${consumer}`
}
