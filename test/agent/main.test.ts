import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/agent/commands.ts'
import { ALL_ENV_ROWS } from '../../src/agent/env-tables.ts'
import { runLine } from './fake-io.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

describe('run', () => {
  for (const flag of ['--version', '-V']) {
    it(`prints the version for ${flag}`, async () => {
      expect(await runLine([flag])).toEqual({ status: 0, stdout: `ct-agent ${version}\n`, stderr: '' })
    })
  }

  for (const argv of [[], ['--help'], ['-h'], ['help']]) {
    it(`prints every command for ${JSON.stringify(argv)}`, async () => {
      const { status, stdout, stderr } = await runLine(argv)
      expect([status, stderr]).toEqual([0, ''])
      for (const { words, about } of COMMANDS) {
        expect(stdout).toContain(words.join(' '))
        expect(stdout).toContain(about)
      }
    })
  }

  for (const command of COMMANDS) {
    const words = command.words.join(' ')
    it(`prints help of ${words} in every way to ask for it`, async () => {
      const asked = await runLine([...command.words, '--help'])
      expect([asked.status, asked.stderr]).toEqual([0, ''])
      expect(asked.stdout).toMatch(new RegExp(`^Usage: ct-agent ${words}`))
      for (const { name } of command.rows) expect(asked.stdout).toContain(name)
      for (const line of command.examples) expect(asked.stdout).toContain(line)
      expect(await runLine([...command.words, '-h'])).toEqual(asked)
      if (words !== 'help env') expect(await runLine(['help', ...command.words])).toEqual(asked)
    })
  }

  for (const argv of [
    ['card', '--help'],
    ['help', 'card'],
  ]) {
    it(`prints the commands of a group for ${argv.join(' ')}`, async () => {
      const { status, stdout, stderr } = await runLine(argv)
      expect([status, stderr]).toEqual([0, ''])
      for (const word of ['make', 'verify', 'show']) expect(stdout).toContain(`  card ${word}`)
      expect(stdout).not.toContain('  offer')
    })
  }

  it('prints every variable with its default for help env, also as JSON', async () => {
    const { stdout } = await runLine(['help', 'env'])
    for (const { name } of ALL_ENV_ROWS) expect(stdout).toContain(`  ${name}`)
    const rows = JSON.parse((await runLine(['help', 'env', '--json'])).stdout) as { name: string; default: unknown }[]
    expect(rows.map(({ name }) => name)).toEqual(ALL_ENV_ROWS.map(({ name }) => name))
    expect(rows.find(({ name }) => name === 'CT_DRAIN_SECS')?.default).toBe('10')
  })

  const typos: readonly (readonly [readonly string[], string, string])[] = [
    [['chanel'], "unrecognized argument 'chanel'", 'did you mean channel?'],
    [['sevre'], "unrecognized argument 'sevre'", 'did you mean serve?'],
    [['--helpp'], "unrecognized argument '--helpp'", 'did you mean --help?'],
    [['--Version'], "unrecognized argument '--Version'", 'did you mean --version?'],
    [['channel', 'inti'], "unrecognized channel subcommand 'inti'", 'did you mean channel init?'],
    [
      ['channel', 'operator-int'],
      "unrecognized channel subcommand 'operator-int'",
      'did you mean channel operator-init?',
    ],
    [['card', 'mkae'], "unrecognized card subcommand 'mkae'", 'did you mean card make?'],
    [['card'], 'expected a word after card, such as make', ''],
    [['help', 'envv'], "unrecognized argument 'envv'", ''],
    [['help', 'serv'], "unrecognized argument 'serv'", 'did you mean serve?'],
    [['xyzzyxyzzy'], "unrecognized argument 'xyzzyxyzzy'", ''],
  ]
  for (const [argv, problem, suggestion] of typos) {
    it(`starts nothing for the unknown word in ${argv.join(' ')}, and names the nearest (W29)`, async () => {
      const { status, stdout, stderr } = await runLine(argv)
      expect([status, stdout]).toEqual([1, ''])
      const [first, second] = stderr.split('\n')
      expect(first).toBe(`ct-agent: ${problem}`)
      expect(second).toBe(suggestion)
      expect(stderr).toContain('\nUsage: ct-agent <command> [flags]\n')
    })
  }

  it('prints the keys of a member in the lines that scripts read', async () => {
    const { status, stdout, stderr } = await runLine(['channel', 'init'])
    expect([status, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('# Agent-Fabric channel identity — generated locally, keep the private keys secret.')
    expect(lines[1]).toBe('# Give these PUBLIC keys to the channel operator (to sign your grant / register):')
    expect(lines[2]).toMatch(/^# {3}holder_pubkey = [0-9a-f]{64}$/)
    expect(lines[3]).toMatch(/^# {3}noise_pubkey {2}= [0-9a-f]{64}$/)
    expect(lines[4]).toMatch(/^export CT_CHANNEL_HOLDER_KEY=[0-9a-f]{64}$/)
    expect(lines[5]).toMatch(/^export CT_CHANNEL_NOISE_KEY=[0-9a-f]{64}$/)
    expect(lines.slice(6, -1).every((line) => line.startsWith('#'))).toBe(true)
    expect(lines.at(-1)).toBe('')
    expect((await runLine(['channel', 'init'])).stdout).not.toBe(stdout)
  })

  it('prints the key of an operator in the lines that scripts read', async () => {
    const { status, stdout, stderr } = await runLine(['channel', 'operator-init'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^# Agent-Fabric channel OPERATOR identity — generated locally, keep the key secret\.\n# Register this PUBLIC key as the channel authority \(POST \/channel\/register\):\n# {3}operator_pubkey = [0-9a-f]{64}\nexport CT_CHANNEL_OPERATOR_KEY=[0-9a-f]{64}\n$/,
    )
  })

  it('prints keys whose public half belongs to the private one', async () => {
    const { holderKey, noiseKey, SecretKey } = await import('../../src/core/keys.ts')
    const { stdout } = await runLine(['channel', 'init'])
    const read = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? ''
    const secret = (name: string) => new SecretKey(Buffer.from(read(new RegExp(`${name}=(\\w+)`)), 'hex'))
    expect(holderKey(secret('HOLDER_KEY')).id).toBe(read(/holder_pubkey = (\w+)/))
    expect(noiseKey(secret('NOISE_KEY')).id).toBe(read(/noise_pubkey {2}= (\w+)/))
  })

  it('renders failures of channel commands as scripts expect them', async () => {
    const { status, stdout, stderr } = await runLine(['channel', 'init', 'now'])
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^Error: "unrecognized argument \\"now\\"; usage: ct-agent channel init"\n/)
  })

  it('renders failures of a wrong line as JSON when it asks for JSON', async () => {
    for (const argv of [
      ['tools', '--json'],
      ['call', '--json', 'ct1'],
      ['serve', '--json', '--lisen', 'x'],
      ['tools', 'nope', '--json'],
      ['demo', '--json'],
    ]) {
      const { status, stdout, stderr } = await runLine(argv)
      expect([status, stdout]).toEqual([2, ''])
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: expect.stringMatching(/^ERR_/), retryable: false },
      })
    }
  })

  it('renders an unknown command as JSON when the line asks for JSON, with the status of the original', async () => {
    const { status, stdout, stderr } = await runLine(['sevre', '--json'])
    expect([status, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'ERR_USAGE', message: "unrecognized argument 'sevre'; did you mean serve?" },
    })
  })

  it('says which word is missing after one that needs another, flags or not', async () => {
    const { status, stderr } = await runLine(['offer', '--json'])
    expect(status).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: 'expected a word after offer, such as fetch' } })
  })

  it('renders a file that is missing after --verify as the original does', async () => {
    const { status, stderr } = await runLine(['channel', 'agent-card', '--verify'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^Error: "usage: ct-agent channel agent-card --verify <file>"\n/)
  })
})
