/**
 * The calling processes as the rows see them.
 *
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type BulkResult } from './load.ts'
import { type SubjectName } from './subject.ts'

const EXIT_TIMEOUT_MS = 3_000

export type Order =
  | { readonly load: 'sequential'; readonly count: number }
  | { readonly load: 'concurrent'; readonly inFlight: number; readonly milliseconds: number }
  | { readonly load: 'bulk'; readonly milliseconds: number }
  | { readonly load: 'close' }

export interface Reply {
  readonly times?: readonly number[]
  readonly rate?: number
  readonly bulk?: BulkResult
  readonly failed?: string
}

export interface Caller {
  readonly name: SubjectName
  readonly sequential: (count: number) => Promise<readonly number[]>
  readonly concurrent: (inFlight: number, milliseconds: number) => Promise<number>
  readonly bulk: (milliseconds: number) => Promise<BulkResult>
}

/** Opens a caller for each subject, hands them over, and ends them whatever happens. */
export async function withCallers<Result>(
  names: readonly SubjectName[],
  use: (callers: readonly Caller[]) => Promise<Result>,
): Promise<Result> {
  const children: ChildProcess[] = []
  try {
    const callers: Caller[] = []
    for (const name of names) {
      const child = fork(fileURLToPath(new URL('caller.ts', import.meta.url)), [name])
      children.push(child)
      await next(child)
      callers.push(callerOf(name, child))
    }
    return await use(callers)
  } finally {
    await Promise.allSettled(children.map(end))
  }
}

function callerOf(name: SubjectName, child: ChildProcess): Caller {
  const order = (what: Order): Promise<Reply> => {
    child.send(what)
    return next(child)
  }
  return {
    name,
    sequential: async (count) => (await order({ load: 'sequential', count })).times ?? [],
    concurrent: async (inFlight, milliseconds) =>
      (await order({ load: 'concurrent', inFlight, milliseconds })).rate ?? Number.NaN,
    bulk: async (milliseconds) =>
      (await order({ load: 'bulk', milliseconds })).bulk ?? { megabytesPerSecond: Number.NaN, pings: [] },
  }
}

async function next(child: ChildProcess): Promise<Reply> {
  const died = new AbortController()
  const onExit = (): void => died.abort(new Error(`${child.spawnargs.join(' ')} exited`))
  child.once('exit', onExit)
  try {
    const [reply] = (await once(child, 'message', { signal: died.signal })) as [Reply]
    if (reply.failed !== undefined) throw new Error(reply.failed)
    return reply
  } finally {
    child.off('exit', onExit)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.send({ load: 'close' } satisfies Order)
  await next(child).catch(() => {})
  // Not killed at once: at its exit a caller ends its server and removes its files.
  const gone = once(child, 'exit', { signal: AbortSignal.timeout(EXIT_TIMEOUT_MS) })
  child.disconnect()
  await gone.catch(() => child.kill('SIGKILL'))
}
