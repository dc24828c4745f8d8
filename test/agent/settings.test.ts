import { describe, expect, it } from 'vitest'
import { readDirectConfig } from '../../src/agent/direct/direct-config.ts'
import { type Env } from '../../src/core/env.ts'
import { isCtError } from '../../src/core/errors.ts'
import { runLine } from './fake-io.ts'

const SECRET = 'c0ffee'.repeat(10)
const KEY = 'ab'.repeat(32)
const GOOD: Env = {
  CT_CHANNEL_ROLE: 'initiate',
  CT_CHANNEL_ADDR: '127.0.0.1:1',
  CT_CHANNEL_NOISE_KEY: KEY,
  CT_CHANNEL_PEER_NOISE_KEY: KEY,
}

/** The problems of `ct-agent channel` with these variables instead of the good ones. */
async function problems(env: Env): Promise<readonly string[]> {
  const { status, stdout, stderr } = await runLine(['channel'], { ...GOOD, ...env })
  expect([status, stdout]).toEqual([1, ''])
  const lines = stderr.trimEnd().split('\n')
  expect(lines.pop()).toMatch(/^ct-agent channel: ERR_CONFIG_INVALID: /)
  return lines
    .filter((line) => !line.startsWith('ct-agent: unknown variable'))
    .map((line) => JSON.parse(line.replace(/^Error: /, '')) as string)
}

describe('the settings of ct-agent channel', () => {
  it('are all reported at once when they are missing, the role first', async () => {
    const none = {
      CT_CHANNEL_ROLE: undefined,
      CT_CHANNEL_ADDR: ' ',
      CT_CHANNEL_NOISE_KEY: '',
      CT_CHANNEL_PEER_NOISE_KEY: undefined,
    }
    expect(await problems(none)).toEqual([
      'CT_CHANNEL_ROLE must be initiate|accept, got None',
      'CT_CHANNEL_ADDR required (host:port)',
      'CT_CHANNEL_NOISE_KEY required (64 hex chars)',
      'CT_CHANNEL_PEER_NOISE_KEY required (64 hex chars), or CT_CHANNEL_PEER_HOLDER',
    ])
  })

  it('are all reported at once when they are malformed, each by name', async () => {
    const found = await problems({
      CT_CHANNEL_ROLE: 'both',
      CT_CHANNEL_ADDR: 'localhost',
      CT_CHANNEL_NOISE_KEY: SECRET,
      CT_CHANNEL_HOLDER_KEY: 'zz',
      CT_CHANNEL_PEER_NOISE_KEY: `${KEY},12`,
      CT_CHANNEL_SERVE: 'maybe',
      CT_CHANNEL_SERVE_CONCURRENCY: '0',
      CT_CHANNEL_IDLE_SECS: '-1',
      CT_CHANNEL_CALL_TIMEOUT_SECS: '1.5',
      CT_CHANNEL_CALL_PARAMS: '{"name":',
    })
    expect(found[0]).toBe('CT_CHANNEL_ROLE must be initiate|accept, got Some("both")')
    for (const name of [
      'CT_CHANNEL_ADDR',
      'CT_CHANNEL_NOISE_KEY',
      'CT_CHANNEL_HOLDER_KEY',
      'CT_CHANNEL_PEER_NOISE_KEY',
      'CT_CHANNEL_SERVE',
      'CT_CHANNEL_SERVE_CONCURRENCY',
      'CT_CHANNEL_IDLE_SECS',
      'CT_CHANNEL_CALL_TIMEOUT_SECS',
      'CT_CHANNEL_CALL_PARAMS',
    ]) {
      expect(found.filter((line) => line.startsWith(`${name} invalid (`))).toHaveLength(1)
    }
    expect(found.join('\n')).not.toContain(SECRET)
    expect(found).toHaveLength(10)
  })

  const keys: readonly (readonly [string, string])[] = [
    ['an odd digit', 'a'.repeat(63)],
    ['too many digits', 'a'.repeat(66)],
    ['another letter', `${'a'.repeat(63)}g`],
    ['a letter of two bytes', `${'a'.repeat(62)}é`],
    ['a letter of four bytes in the middle', `${'a'.repeat(31)}🦀${'a'.repeat(31)}`],
    ['a 0x in front', `0x${'a'.repeat(62)}`],
    ['full-width digits', '０'.repeat(64)],
  ]
  for (const [name, key] of keys) {
    it(`are malformed, not missing, with ${name} in a key, which is not shown (W23, W45)`, async () => {
      for (const variable of ['CT_CHANNEL_NOISE_KEY', 'CT_CHANNEL_HOLDER_KEY']) {
        const [found = '', ...more] = await problems({ [variable]: key })
        expect(more).toEqual([])
        expect(found).toMatch(new RegExp(`^${variable} invalid \\(64 hex`))
        expect(found).not.toContain(key)
        expect(found).not.toContain('aaaa')
      }
    })
  }

  for (const params of ['{"name":', '{name:1}', '"text"', '42', 'null x', '[1,]']) {
    it(`are malformed with ${params} as parameters (W45)`, async () => {
      const [found, ...more] = await problems({ CT_CHANNEL_CALL: 'tools/call', CT_CHANNEL_CALL_PARAMS: params })
      expect(more).toEqual([])
      expect(found).toMatch(/^CT_CHANNEL_CALL_PARAMS invalid \(a JSON object or array\): /)
    })
  }

  for (const word of ['1', 'true', 'YES', ' on ']) {
    it(`serve for ${JSON.stringify(word)} (W45)`, () => {
      expect(readDirectConfig({ ...GOOD, CT_CHANNEL_SERVE: word }).side).toMatchObject({ kind: 'serve', once: false })
    })
  }

  it('are fatal when services have no handler, or a service variable is wrong (W4, W5)', async () => {
    const serve = { CT_CHANNEL_SERVE: '1' }
    expect(await problems({ ...serve, CT_AGENT_SERVICES: 'a' })).toEqual([
      expect.stringMatching(/^CT_AGENT_SERVICE_HANDLER_CMD required \(a shell command to run the listed services\)/),
    ])
    expect(await problems({ ...serve, CT_AGENT_SERVICE_HANDLER_CMD: 'cat', CT_AGENT_SERVICES: 'a b,A-B' })).toEqual([
      expect.stringMatching(/^CT_AGENT_SERVICES invalid .*are both service\/a_b; rename one$/),
    ])
    for (const name of ['TIMEOUT_SECS', 'CONCURRENCY', 'QUEUE', 'MAX_OUTPUT_BYTES']) {
      const variable = `CT_AGENT_SERVICE_${name}`
      expect(
        await problems({ ...serve, CT_AGENT_SERVICE_HANDLER_CMD: 'cat', CT_AGENT_SERVICES: 'a', [variable]: '1d' }),
      ).toEqual([expect.stringMatching(new RegExp(`^${variable} invalid`))])
    }
  })

  it('point out a handler without services (W4)', () => {
    const serve = { ...GOOD, CT_CHANNEL_SERVE: '1', CT_AGENT_SERVICE_HANDLER_CMD: 'cat' }
    expect(readDirectConfig(serve).notices).toEqual([expect.stringContaining('CT_AGENT_SERVICES is not set')])
    expect(readDirectConfig({ ...serve, CT_AGENT_SERVICES: '' }).notices).toEqual([
      expect.stringContaining('CT_AGENT_SERVICES is empty'),
    ])
  })

  it('choose between calling, serving and piping in the order of the original', () => {
    const all = { ...GOOD, CT_CHANNEL_CALL_SERVICE: 'a', CT_CHANNEL_CALL: 'tools/list', CT_CHANNEL_SERVE: '1' }
    expect(readDirectConfig(all)).toMatchObject({ side: { kind: 'call-lines', slug: 'a' }, reconnect: true })
    expect(readDirectConfig({ ...all, CT_CHANNEL_CALL_PERSISTENT: 'no' }).side).toMatchObject({ kind: 'call-once' })
    const { CT_CHANNEL_CALL_SERVICE: _, ...method } = all
    expect(readDirectConfig(method).side).toMatchObject({ kind: 'call-method', method: 'tools/list' })
    expect(readDirectConfig({ ...method, CT_CHANNEL_CALL: '' }).side).toMatchObject({ kind: 'serve' })
    expect(readDirectConfig(GOOD).side).toEqual({ kind: 'pipe' })
  })

  it('are an error of their own kind that names every variable', () => {
    try {
      readDirectConfig({ ...GOOD, CT_CHANNEL_ADDR: 'x', CT_CHANNEL_NOISE_KEY: 'y' })
      expect.unreachable()
    } catch (error) {
      if (!isCtError(error, 'ERR_CONFIG_INVALID')) throw error
      expect(error.detail).toEqual({ variables: ['CT_CHANNEL_ADDR', 'CT_CHANNEL_NOISE_KEY'] })
    }
  })
})
