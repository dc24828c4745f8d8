/**
 * A transport of either SDK over which a client asks for one revision of MCP, whichever it would ask for by itself.
 *
 * @module
 */

/** What the transports of both SDKs have in common. */
export interface AnyTransport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the two SDKs have two types for one message
  onmessage?: ((message: any) => void) | undefined
  start: () => Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  send: (message: any, options?: any) => Promise<void>
  close: () => Promise<void>
  setProtocolVersion?: ((version: string) => void) | undefined
}

/** Changes the wish of `initialize`, and shows what was agreed on. */
export function askingFor<Transport extends AnyTransport>(
  transport: Transport,
  revision: string,
): { readonly transport: Transport; readonly agreed: () => string | undefined } {
  let agreed: string | undefined
  const { send } = transport
  transport.send = (message, options) => {
    const isWish = message.method === 'initialize'
    const wish = isWish ? { ...message, params: { ...message.params, protocolVersion: revision } } : message
    return send.call(transport, wish, options)
  }
  const listener: { take?: ((message: unknown) => void) | undefined } = {}
  Object.defineProperty(transport, 'onmessage', {
    get: () => listener.take && see,
    set: (take: (message: unknown) => void) => {
      listener.take = take
    },
  })
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const see = (message: any): void => {
    agreed ??= message.result?.protocolVersion
    listener.take?.(message)
  }
  return { transport, agreed: () => agreed }
}
