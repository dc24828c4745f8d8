/**
 * Hosts that are nobody's but those behind the same wall: what is published for all must not lead there.
 *
 * @module
 */
import { BlockList, isIP } from 'node:net'

const PRIVATE = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv4')
}
for (const [net, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv6')
}

const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan)\.?$/

/** @param hostname as a URL has it, with brackets around IPv6 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  if (family === 0) return !host.includes('.') || LOCAL_NAME.test(host)
  return PRIVATE.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
