/**
 * The loads that are put on an open connection.
 *
 * @module
 */
import { type Opened } from './subject.ts'

/** Pause between two pings while a bulk transfer runs: enough samples, no load of their own. */
const PROBE_PAUSE_MS = 5

/** One ping after the other; the time of each in milliseconds. */
export async function sequential({ ping }: Opened, count: number): Promise<number[]> {
  const times: number[] = []
  for (let done = 0; done < count; done += 1) times.push(await timed(ping))
  return times
}

/** So many pings under way all the time; answers per second. */
export async function concurrent({ ping }: Opened, inFlight: number, milliseconds: number): Promise<number> {
  const began = performance.now()
  const end = began + milliseconds
  let answers = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      await ping()
      answers += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (answers * 1_000) / (performance.now() - began)
}

export interface BulkResult {
  readonly megabytesPerSecond: number
  /** Milliseconds of pings on the same connection meanwhile. */
  readonly pings: readonly number[]
}

/** Bulk in one direction with small calls beside it. */
export async function bulk({ ping, push }: Opened, milliseconds: number): Promise<BulkResult> {
  if (push === undefined) throw new RangeError('expected a subject that can push')
  const began = performance.now()
  let running = true
  const pings: number[] = []
  const probe = async (): Promise<void> => {
    while (running) {
      pings.push(await timed(ping))
      await new Promise((resolve) => setTimeout(resolve, PROBE_PAUSE_MS))
    }
  }
  const probing = probe()
  const bytes = await push(milliseconds)
  const seconds = (performance.now() - began) / 1_000
  running = false
  await probing
  return { megabytesPerSecond: bytes / 1_000_000 / seconds, pings }
}

async function timed(action: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await action()
  return performance.now() - began
}
