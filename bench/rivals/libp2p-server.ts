/**
 * A raw js-libp2p stream: JSON lines on one protocol, a sink that tells how much it swallowed on another.
 *
 * @module
 */
import { createRawNode, LINES_PROTOCOL, SINK_PROTOCOL } from './libp2p-node.ts'
import { lineSplitter } from './lines.ts'
import { answerLine } from './ping-answer.ts'

const node = await createRawNode(['/ip4/127.0.0.1/tcp/0'])

await node.handle(LINES_PROTOCOL, (stream) => {
  const split = lineSplitter((line) => stream.send(Buffer.from(answerLine(line))))
  stream.addEventListener('message', ({ data }) => split(data.subarray()))
})

await node.handle(SINK_PROTOCOL, (stream) => {
  let total = 0
  stream.addEventListener('message', ({ data }) => {
    total += data.byteLength
  })
  stream.addEventListener('remoteCloseWrite', () => {
    stream.send(Buffer.from(String(total)))
    void stream.close()
  })
})

console.log(JSON.stringify({ address: node.getMultiaddrs()[0]?.toString() }))
