/**
 * What a peer's server may ask and tell beside answers, and who hears it.
 *
 * @module
 */
import { type JsonObject, type Relayed } from '../../mcp/index.ts'

/** Which one it is. */
export interface Labelled {
  readonly label: string
}

export interface PeerHost {
  /** What it is told that hosts here can do. */
  readonly abilities: () => JsonObject
  /** What the peer offers beside tools is not what it was. */
  readonly onOffersChange: (peer: Labelled) => void
  /** @param params JSON text */
  readonly onNotification: (peer: Labelled, method: string, params: string) => void
  /** @param params JSON text */
  readonly onRequest: (
    peer: Labelled,
    method: string,
    params: string,
    signal: AbortSignal,
  ) => Promise<Relayed> | undefined
}
