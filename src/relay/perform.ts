/**
 * Doing what was asked: the input is read by the operation's own schema, and who asks is who may.
 *
 * @module
 */
import { type z } from 'zod'
import { type Caller } from './identity/caller.ts'
import { type Asked, type Operation } from './operation.ts'
import { Refusal } from './refusal.ts'
import { type RelayContext } from './relay-context.ts'

/** So many faults of one input are named. */
const MAX_FAULTS = 5

/** @throws {Refusal} what the operation refuses; `invalid_request` where the input does not fit; `unauthorized` */
export async function perform(
  { input, isOpen, run }: Operation,
  relay: RelayContext,
  caller: Caller | undefined,
  given: unknown,
  asked: Asked,
): Promise<unknown> {
  if (caller === undefined && isOpen !== true) throw new Refusal('unauthorized', 'expected a credential, found none')
  const read = input.safeParse(given)
  if (!read.success) throw new Refusal('invalid_request', faultsOf(read.error))
  return run(relay, caller as never, read.data as never, asked)
}

function faultsOf({ issues }: z.ZodError): string {
  const faults = issues.slice(0, MAX_FAULTS).map(({ path, message }) => {
    const where = path.length === 0 ? '' : `${path.map(String).join('.')}: `
    return where + message.charAt(0).toLowerCase() + message.slice(1)
  })
  const more = issues.length - faults.length
  return faults.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
