/**
 * `ct-agent completion`: what makes a shell complete the words of this program, and the names it asks for then.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { printLine } from '../io.ts'
import { PeerStore } from '../peers/peer-store.ts'
import { bashScript } from './completion-bash.ts'
import { fishScript } from './completion-fish.ts'
import { type Completions, completionsOf } from './completion-table.ts'
import { zshScript } from './completion-zsh.ts'

const SHELLS: ReadonlyMap<string, (completions: Completions) => string> = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
])

export async function completion({ io, operands, stateDir, commands = [] }: Context): Promise<number> {
  const [wanted = ''] = operands
  if (wanted === 'peers') {
    for (const name of peerNames(stateDir)) await printLine(io, name)
    return 0
  }
  const script = SHELLS.get(wanted)
  if (script === undefined) throw new CtError('ERR_USAGE', `expected bash, zsh, fish or peers, found ${quote(wanted)}`)
  await printLine(io, script(completionsOf(commands)))
  return 0
}

/** A shell that completes a line is told nothing of what is wrong elsewhere. */
function peerNames(stateDir: string): readonly string[] {
  try {
    return new PeerStore(stateDir).list().peers.map(({ name }) => name)
  } catch {
    return []
  }
}
