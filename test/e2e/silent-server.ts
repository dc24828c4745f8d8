/**
 * A peer that never gets as far as a handshake.
 *
 * @module
 */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Stage } from './stage.ts'

/** Takes connections and never says a word. */
export async function silentServer(stage: Stage): Promise<{ address: string; connected: () => boolean }> {
  let connected = false
  const server = createServer((socket) => {
    connected = true
    socket.on('error', () => {})
    stage.onClose(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.onClose(() => void server.close())
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('expected an address')
  return { address: `127.0.0.1:${bound.port}`, connected: () => connected }
}
