/**
 * So much in so long a time, for each of many.
 *
 * Holds: at most `maxKeys` are known; the one that used its quota longest ago is forgotten first.
 *
 * @module
 */
import { isIPv6 } from 'node:net'

export interface QuotaPolicy {
  readonly budget: number
  readonly windowMs: number
  readonly maxKeys: number
}

interface Use {
  readonly until: number
  amount: number
}

export class Quota {
  readonly #policy: QuotaPolicy
  readonly #uses = new Map<string, Use>()

  constructor(policy: QuotaPolicy) {
    this.#policy = policy
  }

  /** Milliseconds until there is some again; 0 while some is left. */
  waitOf(key: string, now: number): number {
    const use = this.#uses.get(key)
    return use === undefined || use.amount < this.#policy.budget ? 0 : Math.max(0, Math.ceil(use.until - now))
  }

  note(key: string, now: number, amount = 1): void {
    const { windowMs, maxKeys } = this.#policy
    const known = this.#uses.get(key)
    const use = known !== undefined && now < known.until ? known : { until: now + windowMs, amount: 0 }
    use.amount += amount
    this.#uses.delete(key)
    this.#uses.set(key, use)
    const [oldest] = this.#uses.keys()
    if (this.#uses.size > maxKeys && oldest !== undefined) this.#uses.delete(oldest)
  }
}

/** An IPv4 address, or the network of an IPv6 address: one customer has as many addresses there as it likes. */
export function sourceOf(host: string): string {
  if (!isIPv6(host)) return host
  const [head = '', tail] = host.toLowerCase().split('::')
  const left = groupsOf(head)
  const right = groupsOf(tail ?? '')
  const missing = tail === undefined ? 0 : Math.max(0, ADDRESS_GROUPS - left.length - right.length)
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':')
}

const ADDRESS_GROUPS = 8
/** Those of the network that a customer is given. */
const NETWORK_GROUPS = 4
