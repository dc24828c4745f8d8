/**
 * What serves calls of hosts that have no session and may be asked something: each call has a set of connections to the
 * peers for itself until it has ended, so that what a server asks there can be about no other.
 *
 * Holds: a set serves one call at a time, and one that waits for its host is found again only by whoever began it. What one
 * host's call has used, calls of the same host may use next; of others, as far as tokens tell them apart, none. There are
 * few sets, and none is kept for long unused.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'
import { type JsonObject, type Port } from '../../mcp/index.ts'
import { type HostedService } from '../hosting/hosted-service.ts'

/** With those of hosts that have sessions, and the one that is shared, this is about what peers let one caller have. */
export const MAX_LEASED = 3
/** Another call of the host often follows. */
export const LEASE_IDLE_MS = 30_000

/** What tells which calls may use one set. */
export interface Lessee {
  /** Of the token, if there is one. */
  readonly identity: string
  /** What it can do, as far as that may be asked of it. */
  readonly abilities: JsonObject
}

type LeasedService = Pick<HostedService, 'serve' | 'close' | 'isWaiting' | 'waitsFor'>

export interface LeaseOptions<Service> {
  readonly clock: Clock
  readonly create: (lessee: Lessee) => Service
  /** It is used no more. */
  readonly onEnd: (service: Service) => void
}

interface Lease<Service> {
  readonly identity: string
  readonly abilities: string
  readonly service: Service
  /** Requests that it serves. */
  links: number
  cancelEnd: () => void
}

export class LeasedServices<Service extends LeasedService> {
  readonly #options: LeaseOptions<Service>
  readonly #leases = new Set<Lease<Service>>()
  readonly #ending = new Set<Promise<void>>()

  constructor(options: LeaseOptions<Service>) {
    this.#options = options
  }

  /** Serves a call that begins; nothing where all sets are in use. */
  begin(port: Port, lessee: Lessee): ReturnType<LeasedService['serve']> | undefined {
    const abilities = JSON.stringify(lessee.abilities)
    const idle = [...this.#leases].filter(isIdle)
    const found = idle.find((lease) => lease.identity === lessee.identity && lease.abilities === abilities)
    if (found !== undefined) return this.#serve(found, port)
    const [first] = idle
    if (this.#leases.size >= MAX_LEASED) {
      if (first === undefined) return undefined
      this.#end(first)
    }
    const service = this.#options.create(lessee)
    const lease = { identity: lessee.identity, abilities, service, links: 0, cancelEnd: () => {} }
    this.#leases.add(lease)
    return this.#serve(lease, port)
  }

  /** Serves a call that goes on; nothing where none waits under that name for this host. */
  resume(port: Port, identity: string, state: string): ReturnType<LeasedService['serve']> | undefined {
    const found = [...this.#leases].find((lease) => lease.identity === identity && lease.service.waitsFor(state))
    return found === undefined ? undefined : this.#serve(found, port)
  }

  async close(): Promise<void> {
    for (const lease of this.#leases) this.#end(lease)
    await Promise.all(this.#ending)
  }

  #serve(lease: Lease<Service>, port: Port): ReturnType<LeasedService['serve']> {
    lease.cancelEnd()
    lease.links += 1
    void port.closed.then(() => {
      lease.links -= 1
      this.#endLater(lease)
    })
    return lease.service.serve(port)
  }

  #endLater(lease: Lease<Service>): void {
    lease.cancelEnd()
    lease.cancelEnd = this.#options.clock.after(LEASE_IDLE_MS, () => {
      if (isIdle(lease)) this.#end(lease)
      else this.#endLater(lease)
    })
  }

  #end(lease: Lease<Service>): void {
    lease.cancelEnd()
    if (!this.#leases.delete(lease)) return
    this.#options.onEnd(lease.service)
    const ending = lease.service.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}

function isIdle({ links, service }: Lease<LeasedService>): boolean {
  return links === 0 && !service.isWaiting
}
