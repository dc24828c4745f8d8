/**
 * What a command is.
 *
 * @module
 */
import { type Env, type EnvRow } from '../core/env.ts'
import { type CtError } from '../core/errors.ts'
import { type Clock, type Random } from '../core/time.ts'
import { type Io } from './io.ts'
import { type Logger } from './logger.ts'

/** A flag that is no setting of its own variable. */
export interface Option {
  readonly name: string
  readonly about: string
  /** Name of the value it takes; a switch without one. */
  readonly value?: string
  /** It may be given several times. */
  readonly repeats?: true
}

export interface Command {
  /** As typed after `ct-agent`. */
  readonly words: readonly string[]
  /** Positional arguments as shown in the usage line. */
  readonly operands: string
  /** Least and most operands. */
  readonly arity: readonly [number, number]
  readonly about: string
  /** More for `--help`, in whole sentences. */
  readonly details?: string
  readonly examples: readonly string[]
  /** False for commands that run until they are stopped. */
  readonly exits: boolean
  /** Variables the command reads; those with a flag can be given as one. */
  readonly rows: readonly EnvRow<unknown>[]
  readonly options: readonly Option[]
  /** Flags that mean nothing without another one. */
  readonly needs?: Readonly<Record<string, string>>
  /** The variable that has what follows `--`, as a command for a shell. */
  readonly rest?: EnvRow<unknown>
  /** It runs with what settings there are: what is wrong with them is what it is to find. */
  readonly examinesSettings?: true
  /** Failures are printed as scripts of the original program expect them: `Error: "…"`, exit 1. */
  readonly compatible?: true
  readonly load: () => Promise<(context: Context) => Promise<number>>
}

/** What a command runs with. */
export interface Context {
  readonly io: Io
  /** Flags over environment over configuration file. */
  readonly env: Env
  readonly operands: readonly string[]
  readonly switches: ReadonlySet<string>
  readonly values: ReadonlyMap<string, string>
  /** Of flags that may be given several times, what was given, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  readonly stateDir: string
  /** Why the settings could not be read as a whole; only where the command examines them. */
  readonly settingsTrouble?: CtError | undefined
  readonly drainSeconds: number
  /** All there are, for those that tell of others; only on a command line. */
  readonly commands?: readonly Command[]
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
}
