/** MCP over Streamable HTTP. */
export { type AccessRules, LOOPBACK_HOSTS } from './access.ts'
export { Endpoint, MCP_PATH } from './endpoint.ts'
export { serveHttp } from './node-server.ts'
export type { HostFacts } from './posting.ts'
