/**
 * A PostgreSQL of its own for the tests of the relay, in a folder of its own at a socket of its own.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Database for the tests of the relay; without one they use files. */
    postgres: string
  }
}

const DEBIAN_FOLDER = '/usr/lib/postgresql'

/** Folder of the programs; undefined where it is not installed. */
export function postgresFolder(): string | undefined {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).sort() : []
  return versions.map((version) => join(DEBIAN_FOLDER, version, 'bin')).findLast((folder) => existsSync(folder))
}

export function setup(project: TestProject): () => void {
  const programs = postgresFolder()
  if (programs === undefined) throw new Error('expected PostgreSQL, found none')
  const folder = mkdtempSync(join(tmpdir(), 'pg-'))
  const [data, socket] = [join(folder, 'data'), join(folder, 'socket')]
  mkdirSync(socket)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? owner('postgres') : {}
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const path of [folder, socket]) chownSync(path, user.uid, user.gid)
  }
  chmodSync(socket, 0o700)
  const run = (program: string, ...args: string[]): void => {
    execFileSync(join(programs, program), args, { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  run('initdb', '--pgdata', data, '--auth', 'trust', '--username', 'relay', '--no-sync', '--encoding', 'UTF8')
  const settings = `-c listen_addresses='' -c unix_socket_directories='${socket}' -c fsync=off -c max_connections=200`
  run('pg_ctl', '--pgdata', data, '--wait', '--silent', '--log', join(folder, 'log'), '--options', settings, 'start')
  project.provide('postgres', `postgres://relay@localhost/postgres?host=${encodeURIComponent(socket)}`)
  return () => {
    run('pg_ctl', '--pgdata', data, '--mode', 'immediate', '--silent', 'stop')
    rmSync(folder, { recursive: true, force: true })
  }
}

function owner(name: string): { readonly uid?: number; readonly gid?: number } {
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
