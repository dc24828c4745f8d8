/**
 * Settings of the relay.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { type EnvRow, quote } from '../../core/env.ts'
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
