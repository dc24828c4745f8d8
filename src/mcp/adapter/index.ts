/** What stands between an MCP host and the tools of peers. */
export { aliasNames, aliasPrefix, prefixIn } from './alias.ts'
export { type LinePort, openLinePort } from './line-port.ts'
export { proxyTool, type RemoteTool, readRemoteTools } from './remote-tools.ts'
export { toolsChangedText } from './tools-changed.ts'
