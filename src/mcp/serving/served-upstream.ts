/**
 * An agent's own service together with what stands behind it, as one link sees both.
 *
 * Holds: of two tools with one name the agent's own is served.
 *
 * @module
 */
import { sortedByName, type Tool, type ToolRegistry } from '../tool.ts'
import { type CallScope, type PeerLimits, type Service } from './call.ts'
import { type ServedClient, type UpstreamLink } from './upstream-link.ts'

/** What is served on one link. */
export type Behind = Omit<Service, 'upstream'> & PeerLimits & Pick<CallScope, 'upstream' | 'notify'>

export function behind(
  { upstream, ...service }: Service & PeerLimits,
  client: ServedClient,
  notify: (text: string) => void,
): Behind {
  if (upstream === undefined) return { ...service, notify }
  const link = upstream.open(client)
  const { prepare } = service
  return {
    ...service,
    notify,
    upstream: link,
    registry: link.tools === undefined ? service.registry : joined(service.registry, link.tools),
    prepare: (tool) => both(prepare?.(tool), link.prepare?.()),
  }
}

function joined(own: ToolRegistry, beside: NonNullable<UpstreamLink['tools']>): ToolRegistry {
  let from: readonly Tool[] | undefined
  let list: readonly Tool[] = []
  return {
    get list() {
      if (from !== beside.list) {
        from = beside.list
        list = sortedByName([...own.list, ...from.filter(({ name }) => own.find(name) === undefined)])
      }
      return list
    },
    find: (name) => own.find(name) ?? beside.find(name),
  }
}

function both(first: Promise<void> | undefined, second: Promise<void> | undefined): Promise<void> | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return Promise.all([first, second]).then(() => {})
}
