/**
 * How a broker is, for `ct-agent status`.
 *
 * @module
 */
import { toCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { VERSION } from '../../core/version.ts'
import { type Context } from '../command.ts'
import { answerStatus } from './status-server.ts'

export interface BrokerFacts {
  readonly holder: HolderId
  readonly addresses: readonly string[]
  readonly metrics: () => object
}

/** @returns what ends it */
export async function answerForBroker(
  { stateDir, clock, log }: Context,
  { holder, addresses, metrics }: BrokerFacts,
): Promise<() => Promise<void>> {
  const began = clock.now()
  const answer = (): Promise<string> =>
    Promise.resolve(
      JSON.stringify({
        version: VERSION,
        command: 'broker',
        pid: process.pid,
        holder,
        addresses,
        started_at: new Date(began).toISOString(),
        uptime_seconds: Math.round((clock.now() - began) / 1_000),
        broker: snakeCased(metrics()),
      }),
    )
  try {
    const { close } = await answerStatus(stateDir, generateInstanceId(), answer)
    return close
  } catch (error) {
    log.info('status.unavailable', { reason: toCtError(error).message })
    return () => Promise.resolve()
  }
}

function snakeCased(counts: object): Record<string, unknown> {
  const entries = Object.entries(counts).map(([name, value]): [string, unknown] => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ])
  return Object.fromEntries(entries)
}
