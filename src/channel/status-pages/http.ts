/**
 * `/healthz` and `/metrics` for whoever runs the program.
 *
 * @module
 */
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { listenError } from '../../core/listen-error.ts'
import { type Address, formatAddress } from '../address.ts'

const REQUEST_TIMEOUT_MS = 5_000
const MAX_CONNECTIONS = 64

export interface StatusPages {
  /** False while it drains. */
  readonly isHealthy: () => boolean
  readonly metrics: () => string
}

export interface StatusServer {
  readonly address: Address
  readonly close: () => Promise<void>
}

/** @throws {CtError} `ERR_ADDRESS_IN_USE`, `ERR_ADDRESS_UNAVAILABLE` */
export async function serveStatus({ host, port }: Address, { isHealthy, metrics }: StatusPages): Promise<StatusServer> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      const [path] = (request.url ?? '').split('?')
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      const [status, body] = !isRead
        ? [405, 'expected GET\n']
        : path === '/healthz'
          ? isHealthy()
            ? [200, 'ok\n']
            : [503, 'draining\n']
          : path === '/metrics'
            ? [200, metrics()]
            : [404, 'see /healthz and /metrics\n']
      response.writeHead(status, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      })
      response.end(body)
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  await listening(server, { host, port })
  return {
    address: { host, port: (server.address() as AddressInfo).port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listening(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, formatAddress({ host, port }))))
    server.listen({ host, port }, resolve)
  })
}
