/**
 * stdin to a raw js-libp2p stream, and the stream to stdout: `accept`, or `initiate <address>`.
 *
 * @module
 */
import { once } from 'node:events'
import { multiaddr } from '@multiformats/multiaddr'
import { createRawNode, drained } from './libp2p-node.ts'

const PIPE_PROTOCOL = '/bench/pipe/1'
const [role, address = ''] = process.argv.slice(2)

if (role === 'accept') {
  const node = await createRawNode(['/ip4/127.0.0.1/tcp/0'])
  await node.handle(PIPE_PROTOCOL, async (stream) => {
    for await (const data of stream) {
      if (!process.stdout.write(data.subarray())) await once(process.stdout, 'drain')
    }
  })
  console.error(`listening on ${node.getMultiaddrs()[0]?.toString()}`)
} else {
  const node = await createRawNode([])
  const connection = await node.dial(multiaddr(address))
  const stream = await connection.newStream(PIPE_PROTOCOL)
  for await (const bytes of process.stdin) {
    if (!stream.send(bytes)) await drained(stream)
  }
  await stream.close()
}
