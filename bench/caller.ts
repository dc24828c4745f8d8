/**
 * A process that calls one subject: each has a heap and a compiler of its own, and rests while others are measured.
 *
 * @module
 */
import { type Order, type Reply } from './callers.ts'
import { bulk, concurrent, sequential } from './load.ts'
import { type Opened, type Subject, type SubjectName } from './subject.ts'

const SUBJECTS: Readonly<Record<SubjectName, () => Promise<Subject>>> = {
  'ct-agent': async () => (await import('./subjects/ct-agent.ts')).ctAgentSubject,
  'ct-agent mcp': async () => (await import('./subjects/hosts.ts')).adapterSubject,
  'ct-agent mcp, wrapped server': async () => (await import('./subjects/hosts.ts')).wrappedSubject,
  'ct-agent gateway': async () => (await import('./subjects/hosts.ts')).gatewaySubject,
  'raw TCP': async () => (await import('./subjects/tcp.ts')).tcpSubject,
  'raw libp2p': async () => (await import('./subjects/libp2p.ts')).libp2pSubject,
  'MCP SDK stdio': async () => (await import('./subjects/mcp-sdk.ts')).mcpStdioSubject,
  'MCP SDK HTTP': async () => (await import('./subjects/mcp-sdk.ts')).mcpHttpSubject,
}

const name = process.argv[2] as SubjectName
const opened = await (await SUBJECTS[name]()).open()

process.on('message', (order: Order) => {
  carryOut(order, opened).then(reply, (error: unknown) => reply({ failed: String(error) }))
})
process.on('disconnect', () => process.exit())
reply({})

async function carryOut(order: Order, subject: Opened): Promise<Reply> {
  switch (order.load) {
    case 'sequential':
      return { times: await sequential(subject, order.count) }
    case 'concurrent':
      return { rate: await concurrent(subject, order.inFlight, order.milliseconds) }
    case 'bulk':
      return { bulk: await bulk(subject, order.milliseconds) }
    case 'close':
      await subject.close()
      return {}
  }
}

function reply(message: Reply): void {
  process.send?.(message)
}
