/**
 * The routers of the small internet: what they translate and what they let through.
 *
 * @module
 */

/**
 * `full-cone`: whoever sends to a port in use gets in. `port-restricted`: what
 * most homes have. `symmetric`: another port for every destination. `udp-blocked`: a port-restricted one without UDP.
 * `only-443`: nothing but port 443 gets out. `ipv6`: a public address behind a firewall that lets nobody in.
 */
export type SiteKind = 'full-cone' | 'port-restricted' | 'symmetric' | 'udp-blocked' | 'only-443' | 'ipv6'

/** A machine of the public network itself. */
export function publicHostScript(hub: string, number: number, namespace: string): string {
  return `
ip -n ${hub} link add p${number} type veth peer name eth0 netns ${namespace}
ip -n ${hub} link set p${number} master pub up
ip -n ${namespace} addr add ${publicAddress(number)}/24 dev eth0
ip -n ${namespace} link set eth0 up`
}

export function publicAddress(number: number): string {
  return `203.0.113.${10 + number}`
}

/** Of every site: no machine can be told from its address in its own network. */
const LAN = '192.168.1'

const GATEWAY_6 = '2001:db8:113::1'

/**
 * The public network is a switch and nothing more; the broker is a machine at it, which also is the way between sites of
 * IPv6. An address on the switch itself would come and go with what is plugged into it.
 */
export function publicScript(hub: string, broker: string): string {
  return `
ip -n ${hub} link add pub type bridge mcast_snooping 0
ip -n ${hub} link set pub up
ip -n ${hub} link add broker type veth peer name eth0 netns ${broker}
ip -n ${hub} link set broker master pub up
ip -n ${broker} addr add 203.0.113.1/24 dev eth0
ip -n ${broker} addr add ${GATEWAY_6}/64 dev eth0 nodad
ip -n ${broker} link set eth0 up
ip netns exec ${broker} sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec ${hub} nft -f - <<'RULES'
table bridge cut {
  chain forward {
    type filter hook forward priority 0
  }
}
RULES`
}

export interface Router {
  readonly kind: SiteKind
  readonly number: number
  readonly hub: string
  readonly broker: string
  readonly router: string
}

export function routerScript({ kind, number, hub, broker, router }: Router): string {
  const wan = publicAddress(number)
  return `
ip -n ${hub} link add p${number} type veth peer name wan netns ${router}
ip -n ${hub} link set p${number} master pub up
ip -n ${router} link add lan type bridge mcast_snooping 0
ip -n ${router} link set lan up
ip -n ${router} link set wan up
${
  kind === 'ipv6'
    ? `ip -n ${router} addr add 2001:db8:113::${10 + number}/64 dev wan nodad
ip -n ${router} addr add 2001:db8:2${hex(number)}::1/64 dev lan nodad
ip netns exec ${router} sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip -n ${broker} -6 route add 2001:db8:2${hex(number)}::/64 via 2001:db8:113::${10 + number}
ip -n ${router} -6 route add default via ${GATEWAY_6}`
    : `ip -n ${router} addr add ${wan}/24 dev wan
ip -n ${router} addr add ${LAN}.1/24 dev lan
ip netns exec ${router} sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'`
}
ip netns exec ${router} nft -f - <<'RULES'
${rulesOf(kind, wan)}
RULES`
}

function rulesOf(kind: SiteKind, wan: string): string {
  const masquerade = kind === 'symmetric' ? 'masquerade random,fully-random' : 'masquerade'
  const out = {
    'only-443': 'iifname "lan" tcp dport != 443 drop\n    iifname "lan" udp dport != 443 drop',
    'udp-blocked': 'iifname "lan" meta l4proto udp drop',
  } as Partial<Record<SiteKind, string>>
  return `
table inet site {
  set opened {
    type inet_service
    flags dynamic,timeout
    timeout 5m
  }
  chain prerouting {
    type nat hook prerouting priority -100
    ${kind === 'full-cone' ? `iifname "wan" ip daddr ${wan} tcp dport @opened dnat ip to ${LAN}.2` : ''}
  }
  chain postrouting {
    type nat hook postrouting priority 100
    ${kind === 'ipv6' ? '' : `oifname "wan" ${masquerade}`}
  }
  chain forward {
    type filter hook forward priority 0
    policy drop
    ${out[kind] ?? ''}
    ${kind === 'full-cone' ? 'iifname "lan" tcp flags & (syn | ack) == syn update @opened { tcp sport }' : ''}
    iifname "lan" accept
    ct state established,related accept
    ${kind === 'full-cone' ? 'ct status dnat accept' : ''}
  }
  chain input {
    type filter hook input priority 0
    iifname "wan" meta l4proto tcp drop
  }
}`
}

export interface Machine {
  readonly kind: SiteKind
  readonly number: number
  readonly index: number
  readonly router: string
  readonly namespace: string
}

export function hostScript({ kind, number, index, router, namespace }: Machine): {
  readonly script: string
  readonly address: string
  readonly publicAddress: string
} {
  const isIpv6 = kind === 'ipv6'
  const network = isIpv6 ? `2001:db8:2${hex(number)}:` : `${LAN}`
  const address = isIpv6 ? `${network}:${1 + index}` : `${network}.${1 + index}`
  return {
    address,
    publicAddress: isIpv6 ? address : publicAddress(number),
    script: `
ip -n ${router} link add h${index} type veth peer name eth0 netns ${namespace}
ip -n ${router} link set h${index} master lan up
ip -n ${namespace} addr add ${address}/${isIpv6 ? '64' : '24'} dev eth0${isIpv6 ? ' nodad' : ''}
ip -n ${namespace} link set eth0 up
ip -n ${namespace} ${isIpv6 ? '-6 ' : ''}route add default via ${isIpv6 ? `${network}:1` : `${network}.1`}`,
  }
}

function hex(number: number): string {
  return number.toString(16).padStart(2, '0')
}
