/**
 * Whether anything listens where the handler of the services is asked over HTTP. It is not called: what it does is not
 * known here.
 *
 * @module
 */
import { formatAddress } from '../../channel/index.ts'
import { type Finding, found } from './catalogue.ts'
import { type Knock, knock } from './knock.ts'

const HTTPS_PORT = 443
const HTTP_PORT = 80

export async function checkHandlerUrl(
  url: URL,
  { hasServices }: { readonly hasServices: boolean },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const port = url.port === '' ? (url.protocol === 'https:' ? HTTPS_PORT : HTTP_PORT) : Number(url.port)
  const address = { host: url.hostname.replace(/^\[|\]$/g, ''), port }
  const heard = await knock(address, signal)
  const shown = formatAddress(address)
  const listens =
    heard === 'open'
      ? found('handler.ok', `something listens at ${shown}`)
      : found('handler.unreachable', `${WORDS[heard]} at ${shown}`)
  return hasServices ? [listens] : [listens, found('handler.unused', 'a handler is set, and no service for it')]
}

const WORDS: Readonly<Record<Exclude<Knock, 'open'>, string>> = {
  closed: 'nothing listens',
  silent: 'nothing answers',
  unreachable: 'nothing can be reached',
}
