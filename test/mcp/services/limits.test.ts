import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { confine } from '../../../src/mcp/services/limits.ts'
import { serveHandler } from './serve-handler.ts'

const NONE = { memoryBytes: undefined, cpuSeconds: undefined, openFiles: undefined, noNetwork: false }

describe('confine', () => {
  it('leaves a command without limits as it is', () => {
    expect(confine("echo 'x'", NONE, undefined)).toBe("echo 'x'")
  })

  it('sets the limits, and becomes the command', () => {
    expect(confine("echo 'x'", { ...NONE, memoryBytes: 2_097_152, cpuSeconds: 3, openFiles: 20 }, 'unshare -n')).toBe(
      "ulimit -d 2048 && ulimit -t 3 && ulimit -n 20 && exec unshare -n -- /bin/sh -c 'echo '\\''x'\\'''",
    )
  })
})

const isLinux = process.platform === 'linux'
const hasUnshare = existsSync('/usr/bin/unshare')

describe.runIf(isLinux)('a handler with limits', () => {
  it('cannot take more memory, while another that stays below runs', async () => {
    const { call } = serveHandler('read -r mib; dd if=/dev/zero of=/dev/null bs="$mib"M count=1 && echo enough', {
      env: { CT_AGENT_SERVICE_HANDLER_MAX_MEMORY: String(64 * 1_048_576) },
    })
    expect(await call('10\n')).toEqual({ output: 'enough' })
    await expect(call('200\n')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED' })
  })

  it('is ended when it has used its processor time', async () => {
    const { call } = serveHandler('while :; do :; done', { env: { CT_AGENT_SERVICE_HANDLER_MAX_CPU_SECS: '1' } })
    await expect(call('')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED', message: /exit status: 137/ })
  })

  it('cannot open more files, and neither loses quotes nor variables', async () => {
    const { call } = serveHandler(`ulimit -n; echo "it's $CT_SERVICE_TYPE"`, {
      env: { CT_AGENT_SERVICE_HANDLER_MAX_FILES: '40' },
    })
    expect(await call('')).toEqual({ output: "40\nit's echo" })
  })

  it.runIf(hasUnshare)('has no network, or is not served at all', async () => {
    const { ready, call } = serveHandler('tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/route', {
      env: { CT_AGENT_SERVICE_HANDLER_NO_NETWORK: '1' },
    })
    const problem: unknown = await ready.then(
      () => undefined,
      (error: unknown) => error,
    )
    if (problem === undefined)
      expect(await call('')).toMatchObject({ output: expect.stringMatching(/^lo\s*(?:Iface.*)?$/) })
    else
      expect(problem).toMatchObject({
        code: 'ERR_CONFIG_INVALID',
        message: /^CT_AGENT_SERVICE_HANDLER_NO_NETWORK cannot be kept/,
      })
  })

  it('keeps them in workers too', async () => {
    const { call } = serveHandler(
      'n=$(ulimit -n); while read -r line; do echo "{\\"id\\":1,\\"output\\":\\"$n\\"}"; done',
      {
        env: { CT_AGENT_SERVICE_HANDLER_MODE: 'worker', CT_AGENT_SERVICE_HANDLER_MAX_FILES: '41' },
      },
    )
    expect(await call('')).toEqual({ output: '41' })
  })
})

describe('limits that cannot be kept', () => {
  for (const [name, options] of [
    ['CT_AGENT_SERVICE_HANDLER_MAX_MEMORY', { value: '104857600', platform: 'darwin' }],
    ['CT_AGENT_SERVICE_HANDLER_MAX_FILES', { value: '1048576', platform: 'linux', shell: 'false' }],
    ['CT_AGENT_SERVICE_HANDLER_NO_NETWORK', { value: '1', platform: 'linux', shell: 'false' }],
  ] as const) {
    it(`of ${name} are refused by name, and nothing is served`, async () => {
      const { spawn } = await import('node:child_process')
      const host = {
        spawn: (_command: string, args: readonly string[], given: object) =>
          spawn('shell' in options ? 'false' : '/bin/sh', args, given),
        kill: () => {},
      }
      const { ready } = serveHandler('cat', { env: { [name]: options.value }, platform: options.platform, host })
      await expect(ready).rejects.toMatchObject({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(new RegExp(`^${name} cannot be kept on this system: .*nothing is served`)),
      })
    })
  }
})
