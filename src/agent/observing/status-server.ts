/**
 * Answers whoever of this user asks how this agent is: one line in, one line out.
 *
 * Holds: a question is short and comes soon, an answer is taken soon, and there are few at once: else the connection ends.
 *
 * @module
 */
import { createServer, type Server, type Socket } from 'node:net'
import { type InstanceId } from '../../core/ids.ts'
import { closeToOthers, ensureRunFolder, socketPath } from './run-folder.ts'
import { STATUS_QUESTION, sweep } from './status-client.ts'

const MAX_QUESTION_BYTES = 1_024
const MAX_CONNECTIONS = 16
const TIMEOUT_MS = 5_000

export interface StatusServer {
  readonly close: () => Promise<void>
}

/**
 * @param answer what there is to say, as one line of JSON
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export async function answerStatus(
  stateDir: string,
  run: InstanceId,
  answer: () => Promise<string>,
): Promise<StatusServer> {
  const path = socketPath(stateDir, run)
  ensureRunFolder(stateDir)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    serveOne(socket, answer)
  })
  server.maxConnections = MAX_CONNECTIONS
  await listening(server, path)
  closeToOthers(path)
  // An agent that is asked only keeps no process alive.
  server.unref()
  void sweep(stateDir, path)
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

function serveOne(socket: Socket, answer: () => Promise<string>): void {
  let question = ''
  let isAnswered = false
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    if (isAnswered) return
    question += text
    if (question.length > MAX_QUESTION_BYTES) socket.destroy()
    if (!question.includes('\n')) return
    isAnswered = true
    if (question.split('\n', 1)[0]?.trim() !== STATUS_QUESTION)
      socket.end('{"error":"expected a question for the status"}\n')
    else
      answer().then(
        (text) => socket.end(`${text}\n`),
        () => socket.destroy(),
      )
  })
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path }, () => resolve())
  })
}
