import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { COMMANDS } from '../src/agent/commands.ts'
import { ALL_ENV_ROWS } from '../src/agent/env-tables.ts'

const TARBALL = `${manifest.name}-${manifest.version}.tgz`

interface Instruction {
  readonly word: string
  readonly rest: string
}

/** Instructions in their order, each on one line. */
const INSTRUCTIONS: readonly Instruction[] = readFileSync('Dockerfile', 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => {
    const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    return { word, rest }
  })

function all(word: string): readonly string[] {
  return INSTRUCTIONS.filter((one) => one.word === word).map(({ rest }) => rest)
}

function only(word: string): string {
  const [found = '', ...more] = all(word)
  expect(more).toEqual([])
  return found
}

function variables(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...all('ENV'), ...all('ARG')].flatMap((line) =>
      [...line.matchAll(/(\w+)(?:=(\S+))?/g)].map(([, name = '', value = '']) => [name, value]),
    ),
  )
}

describe('the Dockerfile', () => {
  it('starts from a Node that the package runs on, and that the tests run on', () => {
    const major = Number(/^node:(\d+)-slim$/.exec(only('FROM'))?.[1])
    expect(major).toBeGreaterThanOrEqual(Number(/\d+/.exec(manifest.engines.node)?.[0]))
    expect(major).toBe(Number(manifest.devDependencies.node.split('.')[0]))
  })

  it('starts the program itself, with no shell between it and its stdin or its signals', () => {
    expect(JSON.parse(only('ENTRYPOINT'))).toEqual(Object.keys(manifest.bin))
    expect(Array.isArray(JSON.parse(only('CMD')))).toBe(true)
  })

  it('installs what npm pack makes, and the builder is given nothing else', () => {
    expect(only('COPY')).toMatch(/^\$\{TARBALL\} /)
    const pattern = variables()['TARBALL'] ?? ''
    expect(matchesGlob(TARBALL, pattern)).toBe(true)
    const ignored = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => /^[^#]/.test(line))
    expect(ignored).toEqual(['*', `!${pattern}`])
    expect(only('RUN')).toContain('npm install --global --omit=dev --ignore-scripts')
    expect(all('ADD')).toEqual([])
  })

  it('runs as nobody special, whose keys are in a volume', () => {
    const last = (word: string): number => INSTRUCTIONS.findLastIndex((one) => one.word === word)
    expect(only('USER')).toBe('node')
    expect(last('USER')).toBeGreaterThan(last('RUN'))
    expect(JSON.parse(only('VOLUME'))).toEqual([variables()['CT_AGENT_STATE_DIR']])
  })

  it('has no secret in it', () => {
    const secrets = ALL_ENV_ROWS.filter(({ secret }) => secret === true).map(({ name }) => name)
    expect(secrets).toContain('CT_TICKET')
    expect(Object.keys(variables()).filter((name) => secrets.includes(name))).toEqual([])
  })
})

describe('docs/docker.md', () => {
  const calls = [...readFileSync('docs/docker.md', 'utf8').matchAll(/docker run .*? ct-agent ([^`\n]+)/g)].map(
    ([, words = '']) => words.split(' '),
  )

  it('shows commands that there are, with flags that they take', () => {
    expect(calls.length).toBeGreaterThan(3)
    const flags = new Set(ALL_ENV_ROWS.flatMap(({ flag }) => (flag === undefined ? [] : [`--${flag}`])))
    for (const [command = '', ...words] of calls) {
      expect(COMMANDS.map((one) => one.words.join(' '))).toContain(command)
      for (const word of words.filter((one) => one.startsWith('--'))) expect(flags).toContain(word)
    }
  })
})
