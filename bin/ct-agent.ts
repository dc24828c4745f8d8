#!/usr/bin/env node
/**
 * Starts the program: checks Node, turns on the compile cache, hands the process to `run`.
 *
 * Holds: nothing is imported statically and no syntax is newer than Node 12 after the build, so that a Node that is too
 * old gets one clear line. A stack trace is printed at
 * CT_LOG_LEVEL=debug alone. Whatever was written to stdout is flushed before the exit.
 *
 * @module
 */
const OLDEST_NODE = [22, 18] as const
/** What a shell reports for a writer whose reader went away: 128 + SIGPIPE. */
const EXIT_READER_GONE = 141
const OWNER_ONLY = 0o700
const WRITABLE_BY_OTHERS = 0o022

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  const needed = `ct-agent: needs Node.js ${OLDEST_NODE.join('.')} or newer, found ${process.version}`
  console.error(`${needed}; install a newer one from https://nodejs.org`)
  process.exitCode = 1
} else {
  process.stdout.on('error', readerGone)
  process.stderr.on('error', () => {})
  process.on('uncaughtException', defect)
  // What Node says of a module of its own is for us, not for whoever reads stderr; listeners replace its own printing.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`ct-agent: ${name}: ${message}\n`)
  })
  // Nothing is left that could ever finish the command: without this, Node would end with status 0.
  process.on('beforeExit', () => defect('the command stopped before it had an answer'))
  // libp2p throws and catches on its way, and a stack that nobody sees takes longer to take down than the rest of it.
  if (process.env['CT_LOG_LEVEL'] !== 'debug') Error.stackTraceLimit = 0
  start().then(leave, defect)
}

async function start(): Promise<number> {
  await useCompileCache()
  const { run } = await import('../src/agent/main.ts')
  return run(process.argv.slice(2), process.env, process)
}

/**
 * Keeps compiled code in a folder of this user's own: code that others could replace would run as this user.
 * Without such a folder the program only starts slower.
 */
async function useCompileCache(): Promise<void> {
  const [{ lstatSync, mkdirSync }, { enableCompileCache }, { homedir }, { isAbsolute, join }] = await Promise.all([
    import('node:fs'),
    import('node:module'),
    import('node:os'),
    import('node:path'),
  ])
  try {
    const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
    if (!isAbsolute(base)) return
    const folder = join(base, 'ct-agent')
    // Level by level: Node's own recursive creation never returns where a parent cannot exist, such as below /proc.
    for (const path of [base, folder]) mkdirUnlessThere(path)
    const { mode, uid } = lstatSync(folder)
    const own = process.platform === 'win32' || (uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0)
    if (own) enableCompileCache(folder)
  } catch {}

  function mkdirUnlessThere(path: string): void {
    try {
      mkdirSync(path, { mode: OWNER_ONLY })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

/** Open handles do not keep a finished command alive; unwritten output does. */
function leave(status: number): void {
  process.exitCode = status
  process.stdout.write('', (error) => {
    if (error) readerGone(error)
    else process.stderr.write('', () => process.exit())
  })
}

function readerGone(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT_READER_GONE)
  process.stderr.write(`ct-agent: cannot write to stdout: ${error.message}\n`, () => process.exit(1))
}

function defect(error: unknown): void {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  const wanted = process.env['CT_LOG_LEVEL'] === 'debug' && error instanceof Error
  const reason = wanted ? (error.stack ?? first) : first
  process.stderr.write(`ct-agent: internal error: ${reason}\n`, () => process.exit(1))
}
