/**
 * Peers, their tools, and the HTTP server that hosts ask for them.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { type Address, formatAddress } from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { listenError } from '../../core/listen-error.ts'
import { type AccessRules, Endpoint, serveHttp } from '../../mcp/http/index.ts'
import { type HostedServiceDeps } from '../hosting/hosted-service.ts'
import { GatewayServices } from './gateway-services.ts'

export interface GatewayOptions extends Omit<HostedServiceDeps, 'isOneHost'> {
  readonly address: Address
  readonly rules: AccessRules
}

export interface Gateway {
  readonly address: Address
  /** Ends streams, says goodbye to peers, and listens no more. */
  readonly close: () => Promise<void>
}

/** Answers that are on their way are given so long. */
const GRACE_MS = 200

/** @throws {CtError} `ERR_ADDRESS_IN_USE`, `ERR_ADDRESS_UNAVAILABLE` */
export async function openGateway({
  address,
  rules,
  clock,
  log,
  peers,
  roots = false,
}: GatewayOptions): Promise<Gateway> {
  const services = new GatewayServices({ peers, clock, log, roots })
  const endpoint = new Endpoint({
    rules,
    serve: (port, host) => services.serve(port, host),
    schemaOf: (tool) => services.schemaOf(tool),
    randomId: randomUUID,
    clock,
    log,
  })
  const server = await serveHttp(address, (request, reply) => endpoint.handle(request, reply), clock).catch(
    (error: unknown) => {
      throw listenError(error, formatAddress(address))
    },
  )
  return {
    address: { host: server.host, port: server.port },
    close: async () => {
      endpoint.stop(new CtError('ERR_PEER_SHUTDOWN', 'the gateway is stopping'))
      await Promise.all([server.close(GRACE_MS), services.close()])
    },
  }
}
