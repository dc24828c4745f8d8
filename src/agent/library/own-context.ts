/**
 * What commands run with, for a program that calls them as functions.
 *
 * Holds: nothing of the process is touched, neither its streams nor its signals; of its environment only where state is
 * kept is read.
 *
 * @module
 */
import { homedir } from 'node:os'
import { env as processEnv } from 'node:process'
import { Readable, Writable } from 'node:stream'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { type Io } from '../io.ts'
import { createLogger } from '../logger.ts'
import { COMMON_ENV, defaultStateDir } from '../settings.ts'
import { type CommonOptions } from './api.ts'
import { type OwnClock, ownClock } from './own-clock.ts'

/** @throws {CtError} `ERR_CONFIG_INVALID` */
export function ownContext(
  { stateDir: given, env = {}, onNotice }: CommonOptions,
  io = ownIo(onNotice),
): Context & { readonly clock: OwnClock } {
  const clock = ownClock()
  const problems: EnvProblem[] = []
  const { name } = COMMON_ENV.stateDir
  const { [name]: kept } = processEnv
  const common = readEnv(COMMON_ENV, { [name]: kept, ...env }, problems)
  refuseProblems(problems)
  return {
    io,
    env,
    operands: [],
    switches: new Set(),
    values: new Map(),
    lists: new Map(),
    stateDir: given ?? common.stateDir ?? defaultStateDir(processEnv, process.platform, homedir()),
    drainSeconds: common.drainSeconds,
    log: createLogger('silent', io.stderr),
    clock,
    random: Math.random,
  }
}

/** Streams and signals of nobody. @param onResult told each line that a command prints */
export function ownIo(
  onNotice: CommonOptions['onNotice'],
  onResult: (line: string) => void = () => {},
): Io & { readonly stop: () => void } {
  const stops = new Set<() => void>()
  const io = {
    stdin: Readable.from([]),
    stdout: sink(onResult),
    stderr: sink((text) => onNotice?.(text)),
    execPath: process.execPath,
    argv: process.argv,
    on: (event: string, handler: () => void) => {
      if (event === 'SIGTERM') stops.add(handler)
      return io
    },
    off: (_: string, handler: () => void) => {
      stops.delete(handler)
      return io
    },
    exit: () => {
      throw new CtError('ERR_INTERNAL', 'expected a library not to end its process')
    },
    /** What SIGTERM would do. */
    stop: () => {
      for (const handler of [...stops]) handler()
    },
    ...(onNotice === undefined ? { isQuiet: true } : {}),
  }
  // The parts of a process that commands look at.
  return io as unknown as Io & { readonly stop: () => void }
}

function sink(take: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      take(String(chunk).trimEnd())
      done()
    },
  })
}
