/**
 * The commands that talk to a peer. They share nearly all their code, so they load as one file instead of many.
 *
 * @module
 */
export { call } from './call.ts'
export { cardFind, cardPublish } from './card-registry.ts'
export { channel } from './channel.ts'
export { completion } from './completion.ts'
export { demo } from './demo.ts'
export { invite } from './invite.ts'
export { join } from './join.ts'
export { mcp } from './mcp.ts'
export { mcpConfig } from './mcp-config.ts'
export { offerBook } from './offer-book.ts'
export { offerFetch } from './offer-fetch.ts'
export { peerForget, peerList, peerRename } from './peer.ts'
export { revoke, rotateOperator } from './revoke.ts'
export { serve } from './serve.ts'
export { tools } from './tools.ts'
