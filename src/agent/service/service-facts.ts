/**
 * What a service manager has to know to run this agent.
 *
 * @module
 */

export interface ServiceFacts {
  /** The program and all its arguments; the program by its whole path. */
  readonly command: readonly [string, ...string[]]
  /** Whole paths. */
  readonly stateDir: string
  readonly folder: string
  /** No secrets: everybody on the machine may read them. */
  readonly env: Readonly<Record<string, string>>
  /** Time that the agent takes to stop, at most. */
  readonly stopSeconds: number
  readonly user: string
}
