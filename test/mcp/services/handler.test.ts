import { describe, expect, it } from 'vitest'
import { type ErrorCode } from '../../../src/core/errors.ts'
import { serveHandler } from './serve-handler.ts'

const SECRETS = {
  CT_CHANNEL_HOLDER_KEY: '11'.repeat(32),
  CT_OIDC_TOKEN: 'token',
  CT_NOT_KNOWN_YET: 'secret of a later version',
  HANDLER_TOKEN: 'its own',
}

const failures: readonly {
  name: string
  command: string
  env?: Readonly<Record<string, string>>
  code: ErrorCode
  message: RegExp
}[] = [
  {
    name: 'a program that does not exist',
    command: 'no-such-program',
    code: 'ERR_TOOL_FAILED',
    message: /^service handler exited exit status: 127 \(reference ref-1\)$/,
  },
  {
    name: 'a non-zero exit, output or not',
    command: 'echo answer; exit 3',
    code: 'ERR_TOOL_FAILED',
    message: /^service handler exited exit status: 3 \(reference ref-1\)$/,
  },
  {
    name: 'exit 0 without output (W25)',
    command: 'cat >/dev/null',
    code: 'ERR_TOOL_FAILED',
    message: /^service handler exited exit status: 0 but produced no output \(killed mid-run\?\)/,
  },
  {
    name: 'blanks for output (W25)',
    command: 'printf " \\n\\t "',
    code: 'ERR_TOOL_FAILED',
    message: /produced no output/,
  },
  {
    name: 'a crash by a signal',
    command: 'echo answer; kill -SEGV $$',
    code: 'ERR_TOOL_FAILED',
    message: /exit status: 139/,
  },
  {
    name: 'a KILL of its own group',
    command: 'echo answer; kill -KILL 0',
    code: 'ERR_TOOL_FAILED',
    message: /exited signal: SIGKILL/,
  },
  {
    name: 'a KILL of the shell that watches it',
    command: 'echo answer; kill -KILL $PPID; exec sleep 300 >/dev/null 2>&1 </dev/null',
    code: 'ERR_TOOL_FAILED',
    message: /exited signal: SIGKILL/,
  },
  {
    name: 'output that is not UTF-8',
    command: 'printf "a\\377b"',
    code: 'ERR_TOOL_FAILED',
    message: /not UTF-8/,
  },
  {
    name: 'a flood of output',
    command: 'yes',
    env: { CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '100000' },
    code: 'ERR_TOOL_FAILED',
    message: /wrote more than 100000 bytes of output/,
  },
  {
    name: 'one byte of output too many, at the end',
    command: 'printf 12345',
    env: { CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '4' },
    code: 'ERR_TOOL_FAILED',
    message: /wrote more than 4 bytes/,
  },
  {
    name: 'a flood of stderr',
    command: 'yes >&2',
    code: 'ERR_TOOL_FAILED',
    message: /bytes to stderr/,
  },
  {
    name: 'a handler that hangs (W25)',
    command: 'exec sleep 300',
    env: { CT_AGENT_SERVICE_TIMEOUT_SECS: '1' },
    code: 'ERR_TOOL_FAILED',
    message: /^service handler timed out after 1s \(reference ref-1\)$/,
  },
]

describe('a service call', () => {
  for (const { name, command, env = {}, code, message } of failures) {
    it(`fails with ${code} on ${name}`, async () => {
      const { call } = serveHandler(command, { env })
      await expect(call('text')).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      })
    })
  }

  it('gives the input to the handler and its trimmed output to the caller', async () => {
    const { call } = serveHandler('cat; printf " \\n"')
    await expect(call('  grüße 🦀\n')).resolves.toEqual({ output: 'grüße 🦀' })
  })

  it('passes 200 KiB both ways at once without a deadlock (W25)', async () => {
    const text = '0123456789abcdef'.repeat(12_800)
    await expect(serveHandler('cat').call(text)).resolves.toEqual({ output: text })
    const backwards = serveHandler('yes 0123456789abcde | head -c 204800; cat')
    await expect(backwards.call(text)).resolves.toMatchObject({
      output: expect.stringMatching(/0123456789abcdef$/),
    })
  })

  it('does not mind a handler that closes its input unread (W25)', async () => {
    const text = 'x'.repeat(1_000_000)
    await expect(serveHandler('exec <&-; echo answer').call(text)).resolves.toEqual({
      output: 'answer',
    })
    await expect(serveHandler('echo answer').call(text)).resolves.toEqual({ output: 'answer' })
  })

  it('keeps stderr from the caller and in the log, under the reference it gives (W43)', async () => {
    const { call, lines } = serveHandler('echo "path /home/operator" >&2; exit 1')
    const error: unknown = await call('text').catch((thrown: unknown) => thrown)
    expect(JSON.stringify(error) + String(error)).not.toContain('operator')
    expect(error).toMatchObject({ message: expect.stringContaining('ref-1') })
    expect(lines).toContainEqual({
      level: 'warn',
      event: 'service.stderr',
      facts: expect.objectContaining({ reference: 'ref-1', stderr: 'path /home/operator\n' }),
    })
    expect(lines).toContainEqual({
      level: 'warn',
      event: 'service.failed',
      facts: expect.objectContaining({ reference: 'ref-1', service: 'echo', call: 'call-1' }),
    })
  })

  it('logs only the last 8 KiB of stderr (W43)', async () => {
    const { call, lines } = serveHandler('yes | head -c 1000000 >&2; echo end >&2; echo answer')
    await call('text')
    const stderr = String(lines[0]?.facts['stderr'])
    expect(stderr).toHaveLength(8_192)
    expect(stderr.endsWith('y\nend\n')).toBe(true)
  })

  it("takes the agent's variables from the handler and tells it of the call (W43)", async () => {
    const { call } = serveHandler('env', { env: SECRETS })
    const { output } = (await call('text')) as { output: string }
    const variables = output.split('\n').filter((line) => line.startsWith('CT_'))
    expect(variables.sort()).toEqual(['CT_CALL_ID=call-1', `CT_PEER_HOLDER=${'ab'.repeat(32)}`, 'CT_SERVICE_TYPE=echo'])
    expect(output).toContain('HANDLER_TOKEN=its own')
  })

  it('hands the command over as it is, with pipes and no other descriptor', async () => {
    const quotes = serveHandler(`echo "it's \\"$HOME\\"" '$1' # "`, { env: { HOME: '/h' } })
    await expect(quotes.call('')).resolves.toEqual({ output: `it's "/h" $1` })
    const pipes = serveHandler('cat /dev/stdin >/dev/stdout; echo noise >/dev/stderr')
    await expect(pipes.call('text')).resolves.toEqual({ output: 'text' })
    const descriptors = serveHandler(
      'for n in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && readlink /proc/$$/fd/$n; done | grep socket; echo none',
    )
    await expect(descriptors.call('')).resolves.toEqual({ output: 'none' })
  })

  it('leaves the handler its default signals', async () => {
    const { call } = serveHandler('sh -c "kill -TERM \\$\\$; echo deaf"; echo $?')
    await expect(call('')).resolves.toEqual({ output: '143' })
  })

  it('refuses an input that is no text, no Unicode or too large, before a handler starts', async () => {
    const { callWith, lines } = serveHandler('echo started >&2; exit 1')
    const message = 'this service requires a string `input` (fixed schema — no free-form slot)'
    for (const args of [{}, null, 'text', ['text'], { input: 1 }]) {
      await expect(callWith(args)).rejects.toMatchObject({ code: 'ERR_CALL_INVALID', message })
    }
    await expect(callWith({ input: '\ud800' })).rejects.toMatchObject({ code: 'ERR_CALL_INVALID' })
    await expect(callWith({ input: 'é'.repeat(2_097_153) })).rejects.toMatchObject({
      code: 'ERR_CALL_INVALID',
      message: 'service `input` too large: 4194306 bytes exceeds the 4194304-byte cap (#183)',
    })
    expect(lines).toEqual([])
  })

  it('fails with ERR_TOOL_FAILED when no process can be made', async () => {
    const exhausted = Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })
    const host = {
      spawn: () => {
        throw exhausted
      },
      kill: () => {},
    }
    await expect(serveHandler('cat', { host }).call('')).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: 'service handler spawn failed: EAGAIN (reference ref-1)',
    })
  })
})
