/**
 * Bundles the program into dist/: a launcher that any Node can parse, the program in chunks that load when needed, and the
 * library for programs that import it.
 *
 * @module
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { noticesOf } from './notices.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
/** Built beside dist and moved there in one step, so that nobody starts half a program. */
const next = join(root, `dist.next-${process.pid}`)
const last = join(root, `dist.last-${process.pid}`)

async function buildAll() {
  try {
    mkdirSync(next)
    await buildLauncher(join(next, 'ct-agent.js'))
    const metafile = await buildProgram()
    writeFileSync(join(next, 'library.d.ts'), declarations())
    writeFileSync(join(next, 'THIRD-PARTY-NOTICES.txt'), noticesOf(root, Object.keys(metafile.inputs)))
    putInPlace()
  } finally {
    for (const folder of [next, last]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Whoever runs the program meanwhile loads its parts as it needs them: what is the same stays where it is. */
function putInPlace() {
  if (isSame(next, dist)) {
    const now = new Date()
    utimesSync(join(dist, 'ct-agent.js'), now, now)
    return
  }
  if (existsSync(dist)) renameSync(dist, last)
  renameSync(next, dist)
}

/** @param {string} folder @param {string} other */
function isSame(folder, other) {
  if (!existsSync(other)) return false
  const [names, others] = [readdirSync(folder), readdirSync(other)]
  const isEqual = (/** @type {string} */ name) =>
    readFileSync(join(folder, name)).equals(readFileSync(join(other, name)))
  return names.join('/') === others.join('/') && names.every(isEqual)
}

/** @param {string} outfile */
async function buildLauncher(outfile) {
  await build({
    absWorkingDir: root,
    entryPoints: ['bin/ct-agent.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node12.22',
    plugins: [mainStaysOutside],
    logLevel: 'warning',
  })
  chmodSync(outfile, 0o755)
}

async function buildProgram() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'src/agent/main.ts', library: 'src/agent/library/index.ts' },
    outdir: next,
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    minifySyntax: true,
    // As the type checker reads it, an import of nothing but types still runs the module, and would load it early.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: false } },
    legalComments: 'none',
    metafile: true,
    banner: { js: requireForCommonJs },
    plugins: [manifestIsVersionOnly],
    logLevel: 'warning',
  })
  return metafile
}

/** What programs see of the library: a text of types alone, and what has them. */
function declarations() {
  const types = readFileSync(join(root, 'src/agent/library/api.ts'), 'utf8')
  return `${types}
export declare const connect: Connect
export declare const serve: Serve
export declare const CtError: abstract new () => CtAgentError
`
}

/** Bundled CommonJS packages require Node's own modules, and an ES module has no `require`. */
const requireForCommonJs = `import { createRequire as __createRequire } from 'node:module'
const require = __createRequire(import.meta.url)`

/** @type {import('esbuild').Plugin} */
const mainStaysOutside = {
  name: 'main-stays-outside',
  setup({ onResolve }) {
    onResolve({ filter: /\/agent\/main\.ts$/ }, () => ({ path: './main.js', external: true }))
  },
}

/** @type {import('esbuild').Plugin} */
const manifestIsVersionOnly = {
  name: 'manifest-is-version-only',
  setup({ onLoad }) {
    const path = join(root, 'package.json')
    onLoad({ filter: /package\.json$/ }, (args) => {
      if (args.path !== path) return undefined
      const { version } = JSON.parse(readFileSync(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
  },
}

/** True when no source is younger than dist. */
function isFresh() {
  const built = statSync(join(dist, 'ct-agent.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = ['bin', 'src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) =>
      join(entry.parentPath, entry.name),
    ),
  )
  return [...sources, join(root, 'package.json')].every((path) => statSync(path).mtimeMs <= built)
}

if (!(process.argv.includes('--if-stale') && isFresh())) await buildAll()
