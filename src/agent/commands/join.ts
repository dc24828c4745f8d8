/**
 * `ct-agent join`: makes a peer of a ticket.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { printable } from '../../core/printable.ts'
import { readCallSettings } from '../calling/peer-way.ts'
import { takePeer } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { joinByTicket } from '../peers/joining.ts'
import { PeerStore } from '../peers/peer-store.ts'
import { printResult } from '../result.ts'
import { peerJson, peerLine } from './peer-report.ts'
import { nameIn } from './peer-words.ts'

/** The serving side cuts it as well. */
const MAX_AS_CHARS = 64

export async function join(context: Context): Promise<number> {
  const { io, switches, values, stateDir } = context
  const wished = values.get('name')
  const name = wished === undefined ? undefined : nameIn(wished, '--name')
  const as = readAs(values.get('as'))
  const { peer: text } = await takePeer(context, 0)
  const store = new PeerStore(stateDir)
  const joined = await joinByTicket(context, readCallSettings(context), { text, store }, { name, as })
  const { name: kept, isKnown } = joined
  if (name !== undefined && kept !== name) {
    notice(io, `ct-agent: another peer took the name ${name} meanwhile: this one is ${kept}`)
  }
  if (isKnown) notice(io, 'ct-agent: this agent had joined by this ticket before')
  await printResult(
    io,
    switches.has('json')
      ? JSON.stringify(toJsonValue(peerJson(joined)))
      : `${peerLine(joined)}\nnext: ct-agent tools ${kept}`,
  )
  return 0
}

function readAs(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const as = printable(text, MAX_AS_CHARS)
  if (as !== '' && as === text.trim()) return as
  throw new CtError('ERR_USAGE', `expected --as with a name of 1 to ${MAX_AS_CHARS} printable characters`)
}
