/**
 * The process group of a handler, as the agent holds it.
 *
 * @module
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { type Readable, type Writable } from 'node:stream'
import { type Env } from '../../core/env.ts'
import { LEADER } from './handler-leader.ts'

export interface ProcessHost {
  readonly spawn: (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess
  /** Signals the process, or the group when `pid` is negative; may throw. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void
}

export const systemProcesses: ProcessHost = {
  spawn: (command, args, options) => spawn(command, args, options),
  kill: (pid, signal) => {
    process.kill(pid, signal)
  },
}

/** Starts the leader of a new group, which runs the command. @throws what the system says when it cannot */
export function startLeader(host: ProcessHost, command: string, environment: Env): ChildProcess {
  return host.spawn('/bin/sh', ['-c', LEADER, 'ct-agent-handler', command], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: environment,
  })
}

export function signalGroup(host: ProcessHost, leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return
  try {
    host.kill(-leader, signal)
  } catch {
    // Nothing is left of the group, which is what was wanted.
  }
}

/** The agent's end of the pipe on descriptor 3 of the leader; a duplex, which node's types do not say. */
export function guardOf(child: ChildProcess): (Readable & Writable) | undefined {
  return (child.stdio?.[3] ?? undefined) as (Readable & Writable) | undefined
}
