/**
 * Raw TCP with JSON lines.
 *
 * @module
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { rivalPath, startServer } from '../children.ts'
import { lineSplitter } from '../rivals/lines.ts'
import { type Subject } from '../subject.ts'
import { BULK_CHUNK, lineClient, pushUntil } from './line-client.ts'

export const tcpSubject: Subject = {
  name: 'raw TCP',
  open: async () => {
    const server = await startServer([rivalPath('tcp-server.ts')])
    const ports = JSON.parse(server.firstLine) as { readonly lines: number; readonly sink: number }
    const socket = await dial(ports.lines)
    const client = lineClient((line) => socket.write(line))
    socket.on('data', lineSplitter(client.receive))
    return {
      serverPid: server.pid,
      ping: client.ping,
      push: async (milliseconds) => {
        const sink = await dial(ports.sink)
        await pushUntil(milliseconds, async () => {
          if (!sink.write(BULK_CHUNK)) await once(sink, 'drain')
        })
        sink.end()
        return Number(await text(sink))
      },
      close: async () => {
        socket.destroy()
        await server.stop()
      },
    }
  },
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  return socket
}
