/**
 * Settings of who serves an MCP host.
 *
 * @module
 */
import { type EnvRow, parseSwitch } from '../../core/env.ts'

export const HOST_ENV = {
  roots: {
    name: 'CT_MCP_ROOTS',
    about: 'Tell peers that ask for it which folders the host works in',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>
