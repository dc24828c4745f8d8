export { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
export { abilitiesOf, abilityFor } from './abilities.ts'
export { type Answer, resultOf, resultTextOf } from './answer.ts'
export type { PeerLimits } from './call.ts'
export { createCallLedger } from './call-ledger.ts'
export type { Asked, CallObserver } from './call-observer.ts'
export { createMcpClient, type McpClient, type RequestOptions } from './client.ts'
export type { Params } from './envelope.ts'
export type { ExtensionMethod, ExtensionMethods } from './extension.ts'
export { UPSTREAM_KEY } from './faces.ts'
export { handedParams } from './handed-params.ts'
export type { PeerHandlers } from './peer-requests.ts'
export type { Port } from './port.ts'
export type { Progress } from './progress.ts'
export { type Relayed, RelayedError } from './relayed.ts'
export { relayedAnswer } from './relaying.ts'
export { createResumableCaller } from './resumable-caller.ts'
export { MAX_IN_FLIGHT, type ServedLink, serveMcp } from './server.ts'
export { isAbout, uriIn } from './subscribed.ts'
export {
  type CallContext,
  createToolRegistry,
  isOwnName,
  type ObjectSchema,
  pingTool,
  type Tool,
  type ToolRegistry,
} from './tool.ts'
export type { ServedClient, Upstream, UpstreamLink } from './upstream-link.ts'
export { CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, MODERN_VERSIONS, VERSION_KEY } from './versions.ts'
