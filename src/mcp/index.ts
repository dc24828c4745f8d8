export { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
export { createMcpClient, type McpClient, type RequestOptions } from './calling/client.ts'
export type { PeerHandlers } from './calling/peer-requests.ts'
export { createResumableCaller } from './calling/resumable-caller.ts'
export type { Port } from './port.ts'
export { abilitiesOf, abilityFor } from './serving/abilities.ts'
export type { PeerLimits } from './serving/call.ts'
export { createCallLedger } from './serving/call-ledger.ts'
export type { Asked, CallObserver } from './serving/call-observer.ts'
export type { ExtensionMethod, ExtensionMethods } from './serving/extension.ts'
export { UPSTREAM_KEY } from './serving/faces.ts'
export { handedParams } from './serving/handed-params.ts'
export { News } from './serving/news.ts'
export { relayedAnswer } from './serving/relaying.ts'
export { MAX_IN_FLIGHT, type ServedLink, serveMcp } from './serving/server.ts'
export { isAbout, uriIn } from './serving/subscribed.ts'
export type { ServedClient, Upstream, UpstreamLink } from './serving/upstream-link.ts'
export {
  type CallContext,
  createToolRegistry,
  isOwnName,
  type ObjectSchema,
  pingTool,
  type Tool,
  type ToolRegistry,
} from './tool.ts'
export { type Answer, exactResultOf, resultOf, resultTextOf } from './wire/answer.ts'
export type { Params } from './wire/envelope.ts'
export { InputRequired } from './wire/input-required.ts'
export type { Progress } from './wire/progress.ts'
export { type Relayed, RelayedError } from './wire/relayed.ts'
export { RPC_INVALID_PARAMS, RPC_UNKNOWN_METHOD } from './wire/rpc-error.ts'
export { CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, MODERN_VERSIONS, VERSION_KEY } from './wire/versions.ts'
