/**
 * Settings of the calling side.
 *
 * @module
 */
import { type EnvRow, parseInteger, parseSwitch, parseText } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'

/** Request parameters by name or by position; none when null. */
export type CallParams = Readonly<Record<string, unknown>> | readonly unknown[] | undefined

export const CALL_ENV = {
  service: {
    name: 'CT_CHANNEL_CALL_SERVICE',
    about: 'Slug of the peer’s service to call with the lines of stdin',
    expects: 'a service slug',
    parse: parseText,
    keepBlank: true,
  },
  persistent: {
    name: 'CT_CHANNEL_CALL_PERSISTENT',
    about: 'Keep the session: each line of stdin is one call, each answer one JSON line; 0 makes all of stdin one call',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '1',
  },
  reconnect: {
    name: 'CT_CHANNEL_CALL_RECONNECT',
    about: 'Reconnect when the session breaks, and finish what was asked',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '1',
  },
  method: {
    name: 'CT_CHANNEL_CALL',
    about: 'One JSON-RPC method to call, such as tools/list; its response is printed on one line',
    expects: 'a method',
    parse: parseText,
  },
  params: {
    name: 'CT_CHANNEL_CALL_PARAMS',
    about: 'Parameters of CT_CHANNEL_CALL',
    expects: 'a JSON object or array',
    parse: parseCallParams,
  },
  timeoutSeconds: {
    name: 'CT_CHANNEL_CALL_TIMEOUT_SECS',
    about: 'Seconds after which a call is given up',
    expects: 'whole seconds',
    parse: parseInteger(1, 86_400),
    fallback: '180',
    flag: 'timeout',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export const TICKET_ENV = {
  ticket: {
    name: 'CT_TICKET',
    about: 'The peer that ct-agent tools, call and offer fetch ask when no operand names one; for join, what to join',
    expects: 'a ticket, or the name of a peer',
    parse: parseText,
    secret: true,
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** JSON that is an object, an array or null; the problem says where the text stops being JSON. */
export function parseCallParams(text: string): Parsed<CallParams> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { problem: `expected JSON, found ${error instanceof Error ? error.message : 'something else'}` }
  }
  if (value === null) return { value: undefined }
  if (typeof value === 'object') return { value: value as CallParams }
  return { problem: `expected an object or an array, found ${JSON.stringify(value)}` }
}
