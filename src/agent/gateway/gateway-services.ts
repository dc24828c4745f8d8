/**
 * What serves the hosts of a gateway: most share one set of connections to the peers, and each host that servers behind
 * peers may ask something has a set of its own.
 *
 * Holds: what such a server asks reaches the host whose connection it is asked on, and no other. Of sets of their own so
 * many are connected at once; who has used its own for longest gives way, and is connected again when it asks.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type JsonObject } from '../../core/json.ts'
import { type HostFacts } from '../../mcp/http/index.ts'
import { abilitiesOf, type Port } from '../../mcp/index.ts'
import { HostedService, type HostedServiceDeps } from '../hosting/hosted-service.ts'
import { LeasedServices, type Lessee } from './leased-services.ts'

/** Peers bound the sessions of one caller; with the set that is shared, this stays below what they let one have. */
const MAX_CONNECTED = 4

export type GatewayServicesDeps = Omit<HostedServiceDeps, 'isOneHost' | 'onUse'>

interface Served {
  readonly close: (reason: CtError) => void
}

export class GatewayServices {
  readonly #deps: GatewayServicesDeps
  readonly #shared: HostedService
  readonly #leased: LeasedServices<HostedService>
  readonly #own = new Set<HostedService>()
  /** Those of their own that may be connected, the longest unused first. */
  readonly #connected = new Set<HostedService>()

  constructor(deps: GatewayServicesDeps) {
    this.#deps = deps
    this.#shared = new HostedService(deps)
    this.#leased = new LeasedServices({
      clock: deps.clock,
      create: ({ abilities }) => this.#create(abilities),
      onEnd: (service) => this.#connected.delete(service),
    })
  }

  serve(port: Port, host: HostFacts): Served {
    const { declares, identity, single } = host
    const { roots = false } = this.#deps
    const abilities = abilitiesOf(declares, { roots })
    if (single !== undefined) return this.#serveSingle(port, { identity, abilities }, single)
    if (isEmpty(abilities)) return this.#shared.serve(port)
    const service = this.#create()
    this.#own.add(service)
    void port.closed.then(async () => {
      this.#connected.delete(service)
      await service.close()
      this.#own.delete(service)
    })
    return service.serve(port)
  }

  #serveSingle(port: Port, lessee: Lessee, { method, state }: NonNullable<HostFacts['single']>): Served {
    if (method !== 'tools/call') return this.#shared.serve(port)
    const served =
      state !== undefined
        ? this.#leased.resume(port, lessee.identity, state)
        : isEmpty(lessee.abilities) || !this.#shared.mayAsk
          ? undefined
          : this.#leased.begin(port, lessee)
    return served ?? this.#shared.serve(port)
  }

  /** @param declares what its host can do, where that says so in each request */
  #create(declares?: JsonObject): HostedService {
    const service: HostedService = new HostedService({
      ...this.#deps,
      isOneHost: true,
      declares,
      onUse: () => this.#used(service),
    })
    return service
  }

  schemaOf(tool: string): JsonObject | undefined {
    return this.#shared.schemaOf(tool)
  }

  /** Says goodbye to all peers. */
  async close(): Promise<void> {
    await Promise.all([this.#shared, ...this.#own, this.#leased].map((service) => service.close()))
  }

  #used(service: HostedService): void {
    this.#connected.delete(service)
    this.#connected.add(service)
    for (const idle of this.#connected) {
      if (this.#connected.size <= MAX_CONNECTED) return
      if (idle !== service && idle.rest()) this.#connected.delete(idle)
    }
  }
}

function isEmpty(abilities: JsonObject): boolean {
  return Object.keys(abilities).length === 0
}
