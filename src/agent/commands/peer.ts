/**
 * `ct-agent peer`: what this agent remembers of its peers.
 *
 * @module
 */
import { toJsonValue } from '../../core/exact-json.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { type NamedPeer, PeerStore } from '../peers/peer-store.ts'
import { printResult } from '../result.ts'
import { peerJson, peerLine } from './peer-report.ts'
import { nameIn } from './peer-words.ts'

export async function peerList({ io, stateDir, switches }: Context): Promise<number> {
  const { peers, problems } = new PeerStore(stateDir).list()
  for (const { message } of problems) notice(io, `ct-agent: ${message}`)
  if (switches.has('json')) await printLine(io, JSON.stringify(peers.map((peer) => toJsonValue(peerJson(peer)))))
  else if (peers.length > 0) await printResult(io, peers.map(peerLine).join('\n'))
  else notice(io, 'ct-agent: no peers yet; join one with its ticket: ct-agent join <ticket>')
  return 0
}

export async function peerRename({ io, stateDir, switches, operands: [from = '', to = ''] }: Context): Promise<number> {
  const [old, name] = [nameIn(from, 'the peer'), nameIn(to, 'its new name')]
  const store = new PeerStore(stateDir)
  store.rename(old, name)
  const renamed = { name, peer: store.get(name) }
  await printResult(io, switches.has('json') ? jsonLine(renamed) : peerLine(renamed))
  return 0
}

export async function peerForget({ io, stateDir, switches, operands: [text = ''] }: Context): Promise<number> {
  const name = nameIn(text, 'the peer')
  new PeerStore(stateDir).forget(name)
  if (switches.has('json')) await printLine(io, JSON.stringify({ forgotten: name }))
  else notice(io, `ct-agent: ${name} is forgotten here; its own side counts this agent in until it removes it`)
  return 0
}

function jsonLine(peer: NamedPeer): string {
  return JSON.stringify(toJsonValue(peerJson(peer)))
}
