/**
 * A handler that is an HTTP server: each call is one POST of JSON.
 *
 * Holds: nothing is followed to another address; an answer is read to its bound and no further; a call that is given up
 * has its connection ended, by which the server can tell.
 *
 * @module
 */
import { ask, bodyOf } from '../programs/asking.ts'
import { systemReason } from '../programs/system-reason.ts'
import { type Failure, type Handler, type HandlerBounds, type HandlerTask, STOPPED, timedOut } from './handler.ts'
import { concluded, ENVELOPE_BYTES, type JsonOutcome, requestText } from './json-handler.ts'
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

  const post = async (task: HandlerTask): Promise<JsonOutcome> => {
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
  task: HandlerTask,
  maxOutputBytes: number,
  signal: AbortSignal,
): Promise<JsonOutcome> {
  const response = await ask({ url, method: 'POST', headers: HEADERS, body: requestText(task), signal })
  const status = response.statusCode ?? 0
  if (status < 200 || status > 299) {
    response.destroy()
    return failure('http-status', `answered with HTTP status ${status}`)
  }
  const bytes = await bodyOf(response, maxOutputBytes + ENVELOPE_BYTES)
  if (bytes === undefined) return failure('stdout-flood', `answered with more than ${maxOutputBytes} bytes`)
  return readAnswer(bytes) ?? failure('no-answer', 'answered with something else than {"output": …} or {"error": …}')
}

function unreachable(error: unknown): JsonOutcome {
  return failure('unreachable', `could not be asked, or broke off: ${systemReason(error)}`)
}

function failure(kind: string, what: string): JsonOutcome {
  return { kind: 'failed', failure: { kind, what } }
}
