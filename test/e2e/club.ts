/**
 * An agent that serves its members through a broker, what its operator does, and what its members do.
 *
 * @module
 */
import { expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { type Ended, runLine } from '../agent/fake-io.ts'
import { type Agent } from './agent.ts'
import { Meeting } from './brokered.ts'
import { type Stage, stateOf } from './stage.ts'

/** An agent that serves behind a broker, and what its operator and its peers do. */
export class Club {
  readonly stage: Stage
  /** Where the broker is. */
  readonly broker: string
  readonly #args: readonly string[]

  private constructor(stage: Stage, broker: string, args: readonly string[]) {
    this.stage = stage
    this.broker = broker
    this.#args = ['serve', '--broker', broker, '--relay-only', ...args]
  }

  static async open(stage: Stage, args: readonly string[]): Promise<Club> {
    const { address } = await new Meeting(stage).broker()
    return new Club(stage, address, args)
  }

  async serve(more: readonly string[] = []): Promise<Agent> {
    const agent = this.stage.start([...this.#args, ...more], { env: stateOf(this.stage, 'server') })
    await agent.says(/reachable through the relay/)
    return agent
  }

  /** Beside the serving agent: in the process of the test, which is another one for it. */
  own(args: readonly string[]): Promise<Ended> {
    return runLine(args, stateOf(this.stage, 'server'))
  }

  async invite(args: readonly string[] = []): Promise<string> {
    const { status, stdout } = await this.own(['invite', ...args])
    expect(status).toBe(0)
    return stdout.trim()
  }

  as(peer: string, args: readonly string[], env: Env = {}): Promise<Ended> {
    return runLine(args, stateOf(this.stage, peer, env))
  }

  async join(peer: string, ticket: string): Promise<void> {
    const { status, stderr } = await this.as(peer, ['join', ticket, '--name', 'club'])
    expect([status, stderr]).toEqual([0, expect.any(String)])
  }
}

export function codeOf({ stderr }: { readonly stderr: string }): unknown {
  return (JSON.parse(stderr) as { error: { code: unknown } }).error.code
}

export async function untilIt(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await holds())) if (performance.now() > deadline) throw new Error(`expected that it ${what}`)
}
