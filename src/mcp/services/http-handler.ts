/**
 * A handler that is an HTTP server: each call is one POST of JSON.
 *
 * Holds: nothing is followed to another address; an answer is read to its bound and no further; a call that is given up
 * has its connection ended, by which the server can tell.
 *
 * @module
 */
import { type IncomingMessage } from 'node:http'
import { ask } from '../upstream/posting.ts'
import { type Failure, type Handler, type HandlerBounds, type HandlerTask, STOPPED, timedOut } from './handler.ts'
import { type WorkerOutcome } from './worker.ts'
import { concluded, ENVELOPE_BYTES } from './worker-handler.ts'
import { readAnswer } from './worker-message.ts'

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  // A connection that the server closes just when it is used again would end a call that may have run.
  connection: 'close',
}

export function createHttpHandler(url: URL, deps: HandlerBounds): Handler {
  const { clock, timeoutSeconds, maxOutputBytes } = deps
  const running = new Map<(failure: Failure) => void, Promise<unknown>>()

  const post = async (task: HandlerTask): Promise<WorkerOutcome> => {
    const controller = new AbortController()
    let givenUp: Failure | undefined
    const giveUp = (failure: Failure): void => {
      givenUp ??= failure
      controller.abort()
    }
    const abort = (): void => giveUp(STOPPED)
    const cancel = clock.after(timeoutSeconds * 1_000, () => giveUp(timedOut(timeoutSeconds)))
    task.signal.addEventListener('abort', abort, { once: true })
    if (task.signal.aborted) abort()
    const answer = exchange(url, task, maxOutputBytes, controller.signal).catch((error: unknown) => unreachable(error))
    running.set(giveUp, answer)
    try {
      const outcome = await answer
      return givenUp === undefined ? outcome : { kind: 'failed', failure: givenUp }
    } finally {
      cancel()
      running.delete(giveUp)
      task.signal.removeEventListener('abort', abort)
    }
  }
  const stop = (): void => {
    for (const giveUp of [...running.keys()]) giveUp(STOPPED)
  }

  return {
    run: async (task) => {
      const startedAt = clock.monotonic()
      return concluded(await post(task), task, startedAt, deps)
    },
    stop,
    close: async () => {
      const answers = [...running.values()]
      stop()
      await Promise.all(answers)
    },
  }
}

async function exchange(
  url: URL,
  { service, callId, peer, input }: HandlerTask,
  maxOutputBytes: number,
  signal: AbortSignal,
): Promise<WorkerOutcome> {
  const head = JSON.stringify({ service, call: callId, peer })
  const body = `${head.slice(0, -1)},"input":${input.json()}}`
  const response = await ask({ url, method: 'POST', headers: HEADERS, body, signal })
  const status = response.statusCode ?? 0
  if (status < 200 || status > 299) {
    response.destroy()
    return failure('http-status', `answered with HTTP status ${status}`)
  }
  const bytes = await bodyOf(response, maxOutputBytes + ENVELOPE_BYTES)
  if (bytes === undefined) return failure('stdout-flood', `answered with more than ${maxOutputBytes} bytes`)
  return readAnswer(bytes) ?? failure('no-answer', 'answered with something else than {"output": …} or {"error": …}')
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) return undefined
    parts.push(chunk)
  }
  return Buffer.concat(parts, bytes)
}

function unreachable(error: unknown): WorkerOutcome {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  return failure('unreachable', `could not be asked, or broke off: ${code}`)
}

function failure(kind: string, what: string): WorkerOutcome {
  return { kind: 'failed', failure: { kind, what } }
}
