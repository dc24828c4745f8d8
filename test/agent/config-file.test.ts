import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runLine } from './fake-io.ts'

function fileWith(text: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ct-agent.conf')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

/** A malformed drain time names its value, and so tells which source won. */
async function drainFound(argv: readonly string[], env: Record<string, string>): Promise<string | undefined> {
  const { stderr } = await runLine(['serve', ...argv], env)
  return /CT_DRAIN_SECS invalid .*found "(.*)"/.exec(stderr)?.[1]
}

describe('CT_CONFIG_FILE', () => {
  it('is read below the environment, and that below flags', async () => {
    const CT_CONFIG_FILE = fileWith('# comment\nCT_DRAIN_SECS=file\n')
    expect(await drainFound(['--drain', 'flag'], { CT_CONFIG_FILE, CT_DRAIN_SECS: 'environment' })).toBe('flag')
    expect(await drainFound([], { CT_CONFIG_FILE, CT_DRAIN_SECS: 'environment' })).toBe('environment')
    expect(await drainFound([], { CT_CONFIG_FILE })).toBe('file')
    expect(await drainFound([], { CT_CONFIG_FILE, CT_DRAIN_SECS: ' ' })).toBe('file')
  })

  it('can be named by a flag, which wins over the variable', async () => {
    const path = fileWith('CT_DRAIN_SECS=one\n')
    const other = fileWith('CT_DRAIN_SECS=two\n')
    expect(await drainFound(['--config', path], { CT_CONFIG_FILE: other })).toBe('one')
  })

  it('keeps a list that the environment empties empty', async () => {
    const CT_CONFIG_FILE = fileWith('CT_AGENT_SERVICES=a\nCT_DRAIN_SECS=x\n')
    const { stderr } = await runLine(['serve'], { CT_CONFIG_FILE, CT_AGENT_SERVICES: '' })
    expect(stderr).not.toContain('CT_AGENT_SERVICE_HANDLER_CMD')
  })

  it('is refused when it holds a key that others can read, and the key is not shown', async () => {
    const secret = 'ab'.repeat(32)
    const CT_CONFIG_FILE = fileWith(`CT_CHANNEL_HOLDER_KEY=${secret}\n`, 0o644)
    const { status, stdout, stderr } = await runLine(['serve'], { CT_CONFIG_FILE })
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('holds CT_CHANNEL_HOLDER_KEY but others can read it: expected mode 600, found 644')
    expect(stderr).not.toContain(secret)
  })

  it('may be read by others when it holds no secret', async () => {
    expect(await drainFound([], { CT_CONFIG_FILE: fileWith('CT_DRAIN_SECS=file\n', 0o644) })).toBe('file')
  })

  for (const [name, path] of [
    ['a file that is not there', '/no/such/file'],
    ['a folder', tmpdir()],
    ['a device without end', '/dev/zero'],
  ] as const) {
    it(`is refused when it is ${name}`, async () => {
      const { status, stderr } = await runLine(['serve'], { CT_CONFIG_FILE: path })
      expect(status).toBe(2)
      expect(stderr).toMatch(/^ct-agent: CT_CONFIG_FILE invalid \(a path\): /)
    })
  }

  it('has unknown names pointed out like the environment, without their values', async () => {
    const CT_CONFIG_FILE = fileWith('CT_CHANEL_ROLE=hidden\nCT_DRAIN_SECS=x\n')
    const { stderr } = await runLine(['serve'], { CT_CONFIG_FILE, CT_XYZZY: 'hidden', OTHER: '1', CT_CALL_ID: '1' })
    expect(stderr.split('\n').filter((line) => line.includes('unknown'))).toEqual([
      'ct-agent: unknown variable CT_CHANEL_ROLE is ignored; did you mean CT_CHANNEL_ROLE?',
      'ct-agent: unknown variable CT_XYZZY is ignored',
    ])
    expect(stderr).not.toContain('hidden')
  })

  it('gives nothing but CT_ variables, and says so of the others', async () => {
    const CT_CONFIG_FILE = fileWith('PATH=/hidden\nHOME=/hidden\nCT_DRAIN_SECS=x\n')
    const { stderr } = await runLine(['serve'], { CT_CONFIG_FILE })
    for (const name of ['PATH', 'HOME']) {
      expect(stderr).toContain(`ct-agent: ${name} in CT_CONFIG_FILE is ignored: it is no CT_ variable\n`)
    }
    expect(stderr).not.toContain('hidden')
  })
})
