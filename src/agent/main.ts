/**
 * The front door: says the version at once, and loads the program for everything else.
 *
 * @module
 */
import { type Env } from '../core/env.ts'
import { VERSION } from '../core/version.ts'
import { type Io, write } from './io.ts'

/** Runs one command line; never rejects. */
export async function run(argv: readonly string[], env: Env, io: Io): Promise<number> {
  if (argv[0] === '--version' || argv[0] === '-V') {
    await write(io.stdout, `ct-agent ${VERSION}\n`)
    return 0
  }
  const { runProgram } = await import('./program.ts')
  return runProgram(argv, env, io)
}
