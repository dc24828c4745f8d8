import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { it, SLOW, type Stage } from './stage.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BLOCK = /```ts (library-\w+)\n(.*?)```/gs

/** The programs of docs/library.md, in a folder where the package is installed. */
function examples(stage: Stage): ReadonlyMap<string, string> {
  const folder = stage.path('app')
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules', 'ct-agent'))
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const text = readFileSync(join(ROOT, 'docs/library.md'), 'utf8')
  const found = [...text.matchAll(BLOCK)].map(([, name = '', code = '']) => {
    const path = join(folder, `${name}.ts`)
    writeFileSync(path, code)
    return [name, path] as const
  })
  return new Map(found)
}

describe('the programs in docs/library.md', SLOW, () => {
  it('fit the declarations of the package', ({ stage }) => {
    const files = [...examples(stage).values()]
    expect(files).toHaveLength(2)
    const flags = [
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2024,esnext.disposable',
      '--types',
      'node',
    ]
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '--noEmit', ...flags, ...files]
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: stage.path('app') })
    expect(stdout).toBe('')
  })

  it('call each other', async ({ stage }) => {
    const files = examples(stage)
    const program = (name: string) => [files.get(name) ?? '']
    const server = stage.run(program('library-serve'), { env: { SERVER_STATE: stage.path('server') } })
    const ticket = await server.line()
    const caller = stage.run(program('library-call'), { env: { TICKET: ticket } })
    expect((await caller.exit).status).toBe(0)
    expect(caller.lines).toEqual([
      'count counts',
      expect.stringMatching(/^ping /),
      '1 of 3',
      '2 of 3',
      '3 of 3',
      'false { counted: 3 }',
    ])
    server.signal('SIGTERM')
    expect((await server.exit).status).toBe(0)
  })
})
