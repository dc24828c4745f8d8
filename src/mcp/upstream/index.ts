/** An MCP server that is served to peers. */
export { openWrapped, type WrappedUpstream } from './wrapped-upstream.ts'
