/**
 * `serve`: an agent that serves, as an object.
 *
 * @module
 */

import { CHANNEL_ENV } from '../../channel/config.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { CtError } from '../../core/errors.ts'
import { serve as serveCommand } from '../commands/serve.ts'
import { type Serve, type Server } from './api.ts'
import { ownContext, ownIo } from './own-context.ts'
import { toolOf } from './own-tool.ts'

/** @throws {CtError} whatever `ct-agent serve` ends in before it serves */
export const serve: Serve = async ({ tools = [], listen, broker, ...options } = {}) => {
  const announced = Promise.withResolvers<string>()
  const io = ownIo(options.onNotice, announced.resolve)
  const env = {
    ...options.env,
    ...(listen === undefined ? {} : { [CHANNEL_ENV.listen.name]: listen }),
    ...(broker === undefined ? {} : { [BROKERED_ENV.broker.name]: broker }),
  }
  const context = { ...ownContext({ ...options, env }, io), switches: new Set(['json']) }
  const closed = serveCommand(context, tools.map(toolOf))
    .then(() => {})
    .finally(context.clock.letGo)
  closed.catch(() => {})
  const early = closed.then(() => {
    throw new CtError('ERR_STOPPED', 'expected to serve, found that it ended at once')
  })
  const close = async (): Promise<void> => {
    io.stop()
    await closed
  }
  return {
    ...readAnnounced(await Promise.race([announced.promise, early])),
    closed,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function readAnnounced(line: string): Pick<Server, 'ticket' | 'holder' | 'addresses' | 'tools'> {
  const { ticket, holder, addresses, tools } = JSON.parse(line)
  return { ...(ticket === undefined ? {} : { ticket }), holder, addresses, tools }
}
