export { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
export { type Answer, resultOf, resultTextOf } from './answer.ts'
export type { PeerLimits } from './call.ts'
export { createCallLedger } from './call-ledger.ts'
export type { Asked, CallObserver } from './call-observer.ts'
export { createMcpClient, type McpClient, type RequestOptions } from './client.ts'
export type { Params } from './envelope.ts'
export type { ExtensionMethod, ExtensionMethods } from './extension.ts'
export { createResumableCaller } from './resumable-caller.ts'
export { MAX_IN_FLIGHT, type ServedLink, serveMcp } from './server.ts'
export {
  type CallContext,
  createToolRegistry,
  type ObjectSchema,
  pingTool,
  type Tool,
  type ToolRegistry,
} from './tool.ts'
export { CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, MODERN_VERSIONS, VERSION_KEY } from './versions.ts'
