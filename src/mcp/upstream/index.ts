/** An MCP server that is served to peers. */
export { readUpstreamConfig, type UpstreamConfig } from './config.ts'
export { openWrapped, type WrappedUpstream } from './wrapped-upstream.ts'
