/**
 * A running relay.
 *
 * @module
 */

import { type AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type Hono } from 'hono'
import { listenError } from '../core/listen-error.ts'
import { type Log } from '../core/log.ts'
import { type Clock } from '../core/time.ts'
import { relayApp } from './http/app.ts'
import { keepSweeping } from './invoking/sweep.ts'
import { idsBy, type RelayContext } from './relay-context.ts'
import { DEFAULT_SETTINGS, type RelaySettings } from './settings.ts'
import { type DatabaseLocation } from './storage/location.ts'
import { type Database, openDatabase } from './storage/open.ts'

export interface RelayOptions {
  readonly database: DatabaseLocation
  readonly host: string
  readonly port: number
  /** Its own address is what people and programs reach it by, unless said otherwise. */
  readonly settings?: Partial<RelaySettings>
  readonly clock: Clock
  readonly log: Log
}

export interface Relay extends RelayContext {
  /** Lets what is under way end, for so long; then closes all. */
  readonly close: (drainMs: number) => Promise<void>
}

/** @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_ADDRESS_IN_USE`, `ERR_ADDRESS_UNAVAILABLE` */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const database = await openDatabase(options.database, options)
  try {
    return await listen(options, database)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function listen({ host, port, settings, clock, log }: RelayOptions, database: Database): Promise<Relay> {
  let fetch: Hono['fetch'] = () => new Response(null, { status: 503 })
  const listening = Promise.withResolvers<AddressInfo>()
  const server = serve(
    { fetch: (request, connection) => fetch(request, connection), hostname: host, port },
    listening.resolve,
  )
  server.once('error', (error: Error) => listening.reject(listenError(error, `${host}:${port}`)))
  const { port: bound } = await listening.promise
  const own = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  const context: RelayContext = {
    database,
    settings: { ...DEFAULT_SETTINGS, publicUrl: own, ...settings },
    clock,
    log,
    ids: idsBy(clock),
  }
  fetch = relayApp(context).fetch
  const stopSweeping = keepSweeping(context)
  return {
    ...context,
    close: async (drainMs) => {
      await stopSweeping()
      database.wakes.letGo()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const cancel = clock.after(drainMs, () => {
        if ('closeAllConnections' in server) server.closeAllConnections()
      })
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await closed
      cancel()
      await database.close()
    },
  }
}
