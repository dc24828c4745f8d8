/**
 * Settings of the relay.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { type EnvRow, parseInteger, parseSwitch, quote } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'
import { type DatabaseLocation } from '../../relay/index.ts'

export const RELAY_ENV = {
  address: {
    name: 'CT_RELAY_ADDR',
    about: 'Address that ct-agent relay listens at; port 0 lets the system choose',
    expects: 'host:port',
    parse: CHANNEL_ENV.address.parse,
    fallback: '127.0.0.1:4437',
    flag: 'addr',
  },
  publicUrl: {
    name: 'CT_RELAY_PUBLIC_URL',
    about: 'Where people and programs reach the relay, such as a proxy with a certificate; its own address unless set',
    expects: 'https://host',
    parse: parseOrigin,
    flag: 'public-url',
  },
  database: {
    name: 'CT_RELAY_DATABASE_URL',
    about: 'PostgreSQL database of the relay, which several relays may share; a file in the state folder unless set',
    expects: 'postgres://user:password@host/name',
    parse: parsePostgres,
    secret: true,
  },
  signupEnabled: {
    name: 'SIGNUP_ENABLED',
    about: 'Whether whoever comes may make an account on the relay',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
  },
  agentServersEnabled: {
    name: 'MCP_AGENTS_ENABLED',
    about: 'Whether each agent of the relay is a server of MCP of its own, and there is a public directory',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '1',
  },
  discoveryEnabled: {
    name: 'DISCOVERY_V2',
    about: 'Whether the agents of the relay may be searched for',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '1',
  },
  limitsEnforced: {
    name: 'LIMITS_ENFORCE',
    about: 'Whether an account of the relay may invoke only so often a minute',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
  },
  ratePerMinute: {
    name: 'LIMITS_DEFAULT_RATE_PER_MIN',
    about: 'Invocations of one account of the relay a minute, where these are limited',
    expects: 'number',
    parse: parseInteger(1, 1_000_000),
    fallback: '60',
  },
  creditsEnabled: {
    name: 'CREDITS_ENABLED',
    about: 'Whether accounts of the relay pay for invocations with credits',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
  },
  costPerInvocation: {
    name: 'CREDITS_COST_PER_INVOCATION_MC',
    about: 'What an invocation costs, in thousandths of a credit',
    expects: 'number',
    parse: parseInteger(0, 1_000_000_000),
    fallback: '100',
  },
  monthlyFreeGrant: {
    name: 'CREDITS_DEFAULT_MONTHLY_FREE_MC',
    about: 'What an account gets each month, in thousandths of a credit',
    expects: 'number',
    parse: parseInteger(0, 1_000_000_000_000),
    fallback: '5000000',
  },
  invocationTimeoutSecs: {
    name: 'INVOCATION_TIMEOUT_SECS',
    about: 'An invocation of the relay that nobody answered for so long has timed out',
    expects: 'seconds',
    parse: parseInteger(1, 31_536_000),
    fallback: '86400',
  },
  draftTtlSecs: {
    name: 'DRAFT_TTL_SECS',
    about: 'So long an answer on the relay waits for the word of a person',
    expects: 'seconds',
    parse: parseInteger(1, 31_536_000),
    fallback: '259200',
  },
  agentWaitSecs: {
    name: 'MCP_AGENT_WAIT_SECS',
    about: 'So long a call of a tool of an agent of the relay waits for its outcome',
    expects: 'seconds',
    parse: parseInteger(0, 25),
    fallback: '25',
  },
  directoryRatePerMinute: {
    name: 'MCP_DIRECTORY_RATE_PER_MIN',
    about: 'Requests of one address a minute to the directory of the relay',
    expects: 'number',
    parse: parseInteger(1, 1_000_000),
    fallback: '60',
  },
  trustedProxies: {
    name: 'TRUST_PROXY_HOPS',
    about: 'Proxies in front of the relay that say truly, in X-Forwarded-For, whom they heard',
    expects: 'number',
    parse: parseInteger(0, 10),
    fallback: '0',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

function parseOrigin(text: string): Parsed<string> {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return { problem: `expected http or https, a host and no path, found ${quote(text)}` }
  }
  return { value: url.origin }
}

function parsePostgres(text: string): Parsed<DatabaseLocation> {
  const url = URL.parse(text)
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    return { problem: 'expected postgres://, a host and the name of a database, found something else' }
  }
  return { value: { kind: 'postgres', url: url.href } }
}
