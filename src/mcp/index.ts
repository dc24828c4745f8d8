export { type CallLedger, createCallLedger } from './call-ledger.ts'
export { type Answer, createMcpClient, type McpClient, type RequestOptions, resultOf } from './client.ts'
export type { Params } from './envelope.ts'
export type { ServerInfo } from './faces.ts'
export { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
export type { CallTag, IncomingMessage, OutgoingMessage, Port, PortEnd } from './port.ts'
export {
  createResumableCaller,
  type ResumableCaller,
  type ResumableCallerOptions,
} from './resumable-caller.ts'
export { MAX_IN_FLIGHT, type ServedLink, type ServeOptions, serveMcp } from './server.ts'
export {
  type CallContext,
  createToolRegistry,
  type ObjectSchema,
  pingTool,
  type Tool,
  type ToolAnnotations,
  type ToolRegistry,
} from './tool.ts'
