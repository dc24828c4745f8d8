/**
 * A raw js-libp2p stream.
 *
 * @module
 */
import { once } from 'node:events'
import { multiaddr } from '@multiformats/multiaddr'
import { rivalPath, startServer } from '../children.ts'
import { createRawNode, drained, LINES_PROTOCOL, SINK_PROTOCOL } from '../rivals/libp2p-node.ts'
import { lineSplitter } from '../rivals/lines.ts'
import { type Subject } from '../subject.ts'
import { BULK_CHUNK, lineClient, pushUntil } from './line-client.ts'

export const libp2pSubject: Subject = {
  name: 'raw libp2p',
  open: async () => {
    const server = await startServer([rivalPath('libp2p-server.ts')])
    const { address } = JSON.parse(server.firstLine) as { readonly address: string }
    const node = await createRawNode([])
    const connection = await node.dial(multiaddr(address))
    const stream = await connection.newStream(LINES_PROTOCOL)
    const client = lineClient((line) => stream.send(Buffer.from(line)))
    const split = lineSplitter(client.receive)
    stream.addEventListener('message', ({ data }) => split(data.subarray()))
    return {
      serverPid: server.pid,
      ping: client.ping,
      push: async (milliseconds) => {
        const sink = await connection.newStream(SINK_PROTOCOL)
        let answer = ''
        sink.addEventListener('message', ({ data }) => {
          answer += Buffer.from(data.subarray()).toString()
        })
        const ended = once(sink, 'remoteCloseWrite')
        await pushUntil(milliseconds, async () => {
          if (!sink.send(BULK_CHUNK)) await drained(sink)
        })
        await sink.close()
        await ended
        return Number(answer)
      },
      close: async () => {
        await node.stop()
        await server.stop()
      },
    }
  },
}
