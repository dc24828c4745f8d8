/**
 * Agents that join, run in this process.
 *
 * @module
 */
import { onTestFinished } from 'vitest'
import { type Peer } from '../../../src/agent/peers/peer.ts'
import { PeerStore } from '../../../src/agent/peers/peer-store.ts'
import { temporaryFolder } from '../artefact-files.ts'
import { type Ended, runLine } from '../fake-io.ts'
import { type Inviter, type InviterOptions, openInviter } from './inviter.ts'
import { named } from './peers.ts'

export const BOB = named('bob')

/** An agent with a state folder of its own. */
export class Caller {
  readonly folder = temporaryFolder()
  readonly store = new PeerStore(this.folder)

  run(argv: readonly string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}) {
    return runLine(argv, { CT_AGENT_STATE_DIR: this.folder, ...env }, input)
  }

  async call(peer: string): Promise<Ended> {
    return this.run(['call', peer, 'ping'])
  }

  get names(): readonly string[] {
    return this.store.list().peers.map(({ name }) => name)
  }

  bob(): Extract<Peer, { kind: 'member' }> {
    const peer = this.store.get(BOB)
    if (peer.kind !== 'member') throw new TypeError('expected a member')
    return peer
  }
}

export async function inviter(options: InviterOptions = {}): Promise<Inviter> {
  const made = await openInviter(options)
  onTestFinished(() => made.close())
  return made
}

export function errorOf({ stderr }: Ended): { code: string; message: string } {
  return (JSON.parse(stderr) as { error: { code: string; message: string } }).error
}

export const PONG = { status: 0, stdout: '{"reply":"pong"}\n', stderr: '' }
