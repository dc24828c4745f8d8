/**
 * The least there can be: JSON lines over loopback TCP, no encryption. A second port swallows bytes and tells how many.
 *
 * @module
 */
import { createServer, type Server } from 'node:net'
import { lineSplitter } from './lines.ts'
import { answerLine } from './ping-answer.ts'

const lines = createServer({ noDelay: true }, (socket) => {
  const split = lineSplitter((line) => socket.write(answerLine(line)))
  socket.on('data', split)
  socket.on('error', () => socket.destroy())
})

const sink = createServer({ allowHalfOpen: true }, (socket) => {
  let total = 0
  socket.on('data', (bytes) => {
    total += bytes.length
  })
  socket.on('end', () => socket.end(String(total)))
  socket.on('error', () => socket.destroy())
})

const ports = await Promise.all([listen(lines), listen(sink)])
console.log(JSON.stringify({ lines: ports[0], sink: ports[1] }))

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
}
