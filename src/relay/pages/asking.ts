/**
 * What pages show and do is what the API shows and does: they ask the same operations.
 *
 * @module
 */
import { type JsonValue } from '../../core/json.ts'
import { OPERATIONS } from '../operations.ts'
import { perform } from '../perform.ts'
import { type Visit } from './page-route.ts'
import { type Visitor } from './visitor.ts'

/** @throws {Refusal} what the operation refuses */
export async function askAs<Result>(
  { relay, context }: Visit,
  { caller }: Visitor,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Result> {
  const operation = OPERATIONS.find((one) => one.name === name)
  if (operation === undefined) throw new Error(`expected an operation ${name}`)
  const asked = {
    surface: 'rest',
    signal: context.req.raw.signal,
    headers: new Headers(),
    meta: new Map<string, JsonValue>(),
    idempotencyKey: undefined,
  } as const
  return (await perform(operation, relay, caller, input, asked)) as Result
}
