/**
 * Two processes with a channel between them: bytes go into one's stdin and come out of the other's stdout.
 *
 * @module
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { toHex } from '../src/core/bytes.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey } from '../src/core/keys.ts'
import { agentEnv, endAtExit, PROGRAM, rivalPath } from './children.ts'
import { OURS } from './row.ts'

export const PIPE_SUBJECTS = [OURS, 'raw libp2p'] as const
export type PipeName = (typeof PIPE_SUBJECTS)[number]

const CHUNK = Buffer.alloc(64 * 1024, 0x61)
const LISTENING = /listening on (\S+)/

export interface Pipe {
  readonly sender: ChildProcessWithoutNullStreams
  readonly receiver: ChildProcessWithoutNullStreams
  readonly close: () => void
}

export async function openPipe(name: PipeName): Promise<Pipe> {
  const ends = name === OURS ? agentEnds() : rivalEnds()
  const receiver = ends.receiver()
  receiver.stdin.end()
  const sender = ends.sender(await addressOf(receiver))
  for (const child of [sender, receiver]) endAtExit(child)
  sender.stderr.resume()
  // A pipe that is torn down in the middle breaks the write that is under way.
  sender.stdin.on('error', () => {})
  return {
    sender,
    receiver,
    close: () => {
      sender.kill('SIGKILL')
      receiver.kill('SIGKILL')
    },
  }
}

/** Offers bytes until they are all taken or the signal aborts; resolves with how many were taken. */
export async function offer({ sender }: Pipe, bytes: number, signal: AbortSignal): Promise<number> {
  let taken = 0
  while (taken < bytes && !signal.aborted) {
    const full = !sender.stdin.write(CHUNK)
    taken += CHUNK.length
    if (full) await once(sender.stdin, 'drain', { signal }).catch(() => {})
  }
  return taken
}

interface Ends {
  readonly receiver: () => ChildProcessWithoutNullStreams
  readonly sender: (address: string) => ChildProcessWithoutNullStreams
}

function rivalEnds(): Ends {
  const start = (...args: string[]): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [rivalPath('libp2p-pipe.ts'), ...args])
  return { receiver: () => start('accept'), sender: (address) => start('initiate', address) }
}

function agentEnds(): Ends {
  const [sender, receiver] = [member(), member()]
  const start = (
    role: string,
    address: string,
    self: typeof sender,
    peer: typeof sender,
  ): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [PROGRAM, 'channel'], {
      env: agentEnv(`pipe-${self.run}`, {
        CT_CHANNEL_ROLE: role,
        CT_CHANNEL_ADDR: address,
        CT_CHANNEL_NOISE_KEY: toHex(self.noise.secret.reveal()),
        CT_CHANNEL_HOLDER_KEY: toHex(self.holder.secret.reveal()),
        CT_CHANNEL_PEER_NOISE_KEY: peer.noise.id,
        CT_CHANNEL_PEER_HOLDER: peer.holder.id,
      }),
    })
  return {
    receiver: () => start('accept', '127.0.0.1:0', receiver, sender),
    sender: (address) => start('initiate', address, sender, receiver),
  }
}

function member() {
  const [holder, noise] = [SecretKey.generate(), SecretKey.generate()]
  return { holder: holderKey(holder), noise: noiseKey(noise), run: generateInstanceId() }
}

function addressOf(receiver: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    receiver.stderr.on('data', (bytes: Buffer) => {
      text += bytes.toString()
      const address = LISTENING.exec(text)?.[1]
      if (address !== undefined) resolve(address)
    })
    receiver.once('exit', () => reject(new Error(`the receiving end did not listen: ${text}`)))
  })
}
