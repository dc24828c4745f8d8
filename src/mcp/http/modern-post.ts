/**
 * A POST of the newest revision: it stands for itself, and ends when the host goes away.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json.ts'
import { type Request } from '../wire/envelope.ts'
import { declaredIn, stateIn } from '../wire/input-required.ts'
import { invalidRequest, type RpcError } from '../wire/rpc-error.ts'
import { HostLink } from './host-link.ts'
import { type Posted } from './incoming.ts'
import { checkModern, checkModernNotification, checkParameters, statusOf } from './modern.ts'
import { type Asking } from './posting.ts'
import { type Refusal } from './refusal.ts'

export function answerModern(posted: Posted, asking: Asking): Refusal | undefined {
  const [member] = posted.members
  const single = posted.isBatch ? undefined : member?.single
  const { header } = asking.request
  if (single?.kind === 'notification') {
    const error = checkModernNotification(single, header)
    if (error !== undefined) return { status: 400, error }
    // Whatever it is about, there is nothing here that it could be said to.
    asking.reply.answer(202, asking.headers)
    return undefined
  }
  if (single?.kind !== 'request') {
    return { status: 400, error: invalidRequest('expected one request in a POST of this revision') }
  }
  const error = checkModern(single, header) ?? checkCall(single, asking)
  if (error !== undefined) return { status: 400, error, id: single.id }
  serveOne(posted, single, asking)
  return undefined
}

function checkCall({ method, params }: Request, { schemaOf, request }: Asking): RpcError | undefined {
  if (method !== 'tools/call' || !isJsonObject(params)) return undefined
  const { name } = params
  const schema = typeof name === 'string' ? schemaOf(name) : undefined
  return schema === undefined ? undefined : checkParameters(schema, params['arguments'], request.header)
}

function serveOne(
  posted: Posted,
  { method, params }: Request,
  { reply, accepts, headers, identity, serve, brief, budget, clock, log }: Asking,
): void {
  const link = new HostLink({ isSession: false, budget, clock, log })
  brief.add(link)
  void link.closed.then(() => brief.delete(link))
  serve(link, { identity, declares: declaredIn(params), single: { method, state: stateIn(params) } })
  link.post(posted, { reply, accepts, headers, statusOf, primed: false })
  reply.onGone(() => link.end(new CtError('ERR_CALL_CANCELLED', 'the host went away')))
}
