import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { parseTicket } from '../../src/channel/index.ts'
import { FaultProxy } from '../faults/fault-proxy.ts'
import { Meeting, portOf } from './brokered.ts'
import { formsIn, formsInMemory, writtenForms } from './memory.ts'
import { it, SLOW, stateOf } from './stage.ts'

const makeCanary = (): string => `canary${randomBytes(12).toString('hex')}`

/** Sends bytes to the proxy as a member would that does not encrypt. */
async function sendInTheClear(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  await new Promise((resolve) => socket.write(text, resolve))
  socket.destroy()
}

describe.skipIf(process.platform !== 'linux')('a broker that relays', SLOW, () => {
  it('neither sees nor keeps what members say to each other', async ({ stage }) => {
    const { agent: broker, address } = await new Meeting(stage).broker()
    const proxy = await FaultProxy.open(Number(portOf(address)))
    stage.onClose(() => proxy.close())
    const seen: Uint8Array[] = []
    proxy.tap((bytes) => seen.push(bytes))
    const shown = address.replace(/\/tcp\/\d+/, `/tcp/${proxy.port}`)
    const canary = makeCanary()
    const [service, argument, answer] = [`${canary}_service`, `${canary}_argument`, `${canary}_answer`]
    const handler = ['--handler', `cat; echo ${answer}`, '--services', service]
    const server = stage.start(['serve', '--broker', shown, '--relay-only', ...handler], {
      env: stateOf(stage, 'server'),
    })
    const ticket = await server.line()
    await server.says(/reachable through the relay/)
    const { holder, secret } = parseTicket(ticket)
    if (secret === undefined) throw new TypeError('expected a ticket with a secret')

    const caller = { env: stateOf(stage, 'caller') }
    const tools = await stage.finish(['tools', ticket], caller)
    expect(tools.stdout).toContain(service)
    const called = await stage.finish(
      ['call', ticket, `service/${service}`, JSON.stringify({ input: argument })],
      caller,
    )
    expect(called.stdout).toContain(argument)
    expect(called.stdout).toContain(answer)

    const capture = (): Buffer => Buffer.concat(seen)
    expect(capture().length).toBeGreaterThan(4_000)
    const forms = new Map([
      ...[...writtenForms(canary)].map(([name, form]) => [`canary as ${name}`, form] as const),
      ...[...writtenForms(secret.reveal())].map(([name, form]) => [`secret as ${name}`, form] as const),
    ])
    expect(formsIn(capture(), forms)).toEqual([])
    expect(formsInMemory(broker.pid, forms)).toEqual([])

    // Both searches find what is there.
    expect(formsInMemory(broker.pid, writtenForms(Buffer.from(holder, 'hex')))).toEqual(
      expect.arrayContaining(['bytes', 'hex']),
    )
    const loud = makeCanary()
    await sendInTheClear(proxy.port, loud)
    await expect.poll(() => formsIn(capture(), writtenForms(loud))).toEqual(['bytes'])
    await expect.poll(() => formsInMemory(broker.pid, writtenForms(loud))).toContain('bytes')
  })
})
