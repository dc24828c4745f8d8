/**
 * The machine that the figures are from.
 *
 * @module
 */
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${model}, ${availableParallelism()} cores, ${memory} GiB, ${type()} ${release()}, Node ${process.version}`
}
