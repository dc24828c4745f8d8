/**
 * Asks the agents of a state folder how they are, and clears away what those left behind that run no more.
 *
 * @module
 */
import { connect } from 'node:net'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { removeSocket, socketsIn } from './run-folder.ts'

export const STATUS_QUESTION = '{"ask":"status"}'
/** A thousand peers and what is refused take less. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 3_000

export interface AskedAgents {
  readonly agents: readonly JsonObject[]
  /** Agents that are there and do not answer, such as stopped ones. */
  readonly silent: number
}

type Reply = JsonObject | 'gone' | 'silent'

export async function askAgents(stateDir: string): Promise<AskedAgents> {
  const replies = await Promise.all(socketsIn(stateDir).map(askOne))
  const agents = replies.filter((reply): reply is JsonObject => typeof reply === 'object')
  return { agents: agents.sort(byStart), silent: replies.filter((reply) => reply === 'silent').length }
}

/** Removes sockets that nobody listens at, except one's own. */
export async function sweep(stateDir: string, own: string): Promise<void> {
  const others = socketsIn(stateDir).filter((socket) => socket !== own)
  await Promise.all(others.map((socket) => ask(socket, true)))
}

function askOne(socket: string): Promise<Reply> {
  return ask(socket, false)
}

/** @param knocksOnly whether somebody listens is all there is to know */
function ask(path: string, knocksOnly: boolean): Promise<Reply> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    let text = ''
    const settle = (reply: Reply): void => {
      socket.destroy()
      resolve(reply)
    }
    socket.setEncoding('utf8')
    socket.setTimeout(TIMEOUT_MS, () => settle('silent'))
    socket.on('error', (error) => {
      if (!('code' in error) || error.code !== 'ECONNREFUSED') return settle(isGone(error) ? 'gone' : 'silent')
      // Whoever made it is dead: a socket that is listened at never refuses.
      removeSocket(path)
      settle('gone')
    })
    socket.on('connect', () => {
      if (knocksOnly) settle('silent')
      else socket.write(`${STATUS_QUESTION}\n`)
    })
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.length > MAX_ANSWER_BYTES) settle('silent')
    })
    socket.on('end', () => settle(parse(text)))
  })
}

function isGone(error: Error): boolean {
  return 'code' in error && error.code === 'ENOENT'
}

function parse(text: string): Reply {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && !('error' in value) ? value : 'silent'
  } catch {
    return 'silent'
  }
}

function byStart(left: JsonObject, right: JsonObject): number {
  return String(left['started_at']) < String(right['started_at']) ? -1 : 1
}
