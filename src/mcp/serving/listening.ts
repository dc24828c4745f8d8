/**
 * Telling a client of lists that change, for as long as it wants that.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { acknowledgedText, newsIn, newsText, readFilter } from '../wire/subscriptions.ts'
import { type Call } from './call.ts'
import { type News } from './news.ts'

/** Why it is over; nothing where the client did not say what it wants to hear of. */
export function listenFor({ id, request, scope, signal }: Call, news: News): Promise<CtError> | undefined {
  const filter = readFilter(request.params)
  if (filter === undefined) return undefined
  const wanted = newsIn(filter)
  scope.notify(acknowledgedText(id, filter))
  const stop = news.listen((one) => {
    if (wanted.has(one)) scope.notify(newsText(id, one))
  })
  return new Promise((resolve) => {
    const end = (): void => {
      stop()
      resolve(new CtError('ERR_CALL_CANCELLED', 'the subscription was ended'))
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
