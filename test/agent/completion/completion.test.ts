import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bashScript } from '../../../src/agent/commands/completion-bash.ts'
import { fishScript } from '../../../src/agent/commands/completion-fish.ts'
import { completionsOf } from '../../../src/agent/commands/completion-table.ts'
import { zshScript } from '../../../src/agent/commands/completion-zsh.ts'
import { COMMANDS } from '../../../src/agent/commands.ts'
import { runLine } from '../fake-io.ts'

const completions = completionsOf(COMMANDS)
let folder = ''

/** A program of that name, which knows two peers. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ct-agent-completion-'))
  writeFileSync(join(folder, 'ct-agent'), '#!/bin/sh\n[ "$*" = "completion peers" ] && printf "alice\\nbob\\n"\n', {
    mode: 0o755,
  })
  writeFileSync(join(folder, 'bash'), bashScript(completions))
  writeFileSync(join(folder, 'zsh'), zshScript(completions))
  writeFileSync(join(folder, 'fish'), fishScript(completions))
})
afterAll(() => rmSync(folder, { recursive: true }))

function run(shell: string, args: readonly string[]): { readonly text: string; readonly problem: string } {
  const env = { PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`, HOME: folder, XDG_CONFIG_HOME: folder, TERM: 'dumb' }
  const { stdout, stderr, error } = spawnSync(shell, args, { cwd: folder, env, encoding: 'utf8' })
  if (error !== undefined) throw error
  return { text: stdout, problem: stderr }
}

function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).error === undefined
}

const lineOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

/** What bash offers for the last of these words. */
function inBash(words: readonly string[]): readonly string[] {
  const script = `source ./bash || exit 1
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ct_agent; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { text, problem } = run('bash', ['--norc', '-c', script, 'bash', ...words])
  expect(problem).toBe('')
  return lineOf(text)
}

/** What fish offers, without what it says of each. */
function inFish(words: readonly string[]): readonly string[] {
  const line = words.map((word) => (word === '' ? '' : word)).join(' ')
  const { text, problem } = run('fish', ['-c', `source ./fish; complete -C '${line}'`])
  expect(problem).toBe('')
  return lineOf(text).map((each) => each.split('\t')[0] ?? '')
}

/** What zsh would add, with its own functions replaced by ones that say what they are given. */
function inZsh(words: readonly string[]): readonly string[] {
  const script = `compdef() { :; }
_describe() { local each; for each in "\${list[@]}"; do print -r -- "\${each%%:*}"; done }
compadd() { shift; print -rl -- "$@"; }
_files() { print FILES; }
_message() { :; }
source ./zsh || exit 1
words=("$@"); CURRENT=$#; _ct_agent`
  const { text, problem } = run('zsh', ['-f', '-c', script, 'zsh', ...words])
  expect(problem).toBe('')
  const last = words.at(-1) ?? ''
  return lineOf(text).filter((each) => each.startsWith(last))
}

const SHELLS = [
  ['bash', inBash],
  ['zsh', inZsh],
  ['fish', inFish],
] as const

const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['doc'], ['doctor']],
  [
    ['peer', ''],
    ['list', 'rename', 'forget'],
  ],
  [
    ['tools', ''],
    ['alice', 'bob'],
  ],
  [['call', 'b'], ['bob']],
  [['peer', 'forget', 'a'], ['alice']],
  [['call', '--arg'], ['--arg']],
  [['peer', 'list', '--js'], ['--json']],
  [['serve', '--log-level', 'de'], ['debug']],
  [
    ['mcp-config', '--for', 'claude'],
    ['claude-desktop', 'claude-code'],
  ],
  [['completion', 'f'], ['fish']],
  [['channel', 'gr'], ['grant']],
  [['channel', 'grant', '--direc'], ['--direction']],
]

for (const [shell, offered] of SHELLS) {
  describe.skipIf(!has(shell))(`completion in ${shell}`, () => {
    for (const [words, expected] of CASES) {
      it(`offers ${expected.join(', ')} for ${words.join(' ')}`, () => {
        expect(offered(['ct-agent', ...words]).toSorted()).toEqual([...expected].sort())
      })
    }

    it('knows every flag of every command', () => {
      for (const { key, flags } of completions.commands.filter((_, index) => index % 5 === 0)) {
        const found = offered(['ct-agent', ...key.split(' '), '--'])
        expect([key, found.toSorted()]).toEqual([key, [...new Set(flags.map(({ flag }) => flag))].sort()])
      }
    })

    it('parses without a word', () => {
      expect(run(shell, ['-n', `./${shell}`])).toEqual({ text: '', problem: '' })
    })
  })
}

describe('ct-agent completion', () => {
  it('prints a script for each shell, and refuses others', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect(await runLine(['completion', shell])).toMatchObject({ status: 0, stderr: '' })
    }
    expect(await runLine(['completion', 'csh'])).toMatchObject({ status: 2, stdout: '' })
  })

  it('prints no names where there are none, and says nothing of what is wrong', async () => {
    const env = { CT_AGENT_STATE_DIR: join(folder, 'ct-agent') }
    expect(await runLine(['completion', 'peers'], env)).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})
