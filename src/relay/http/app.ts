/**
 * The relay as one web application: API, MCP, sign-in and pages at one origin.
 *
 * @module
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { cors } from 'hono/cors'
import { VERSION } from '../../core/version.ts'
import { mountAuthorization } from '../authorization/routes.ts'
import { mountMcp } from '../mcp/routes.ts'
import { OPERATIONS } from '../operations.ts'
import { mountPages } from '../pages/routes.ts'
import { REFUSALS, Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { challenge } from './bearer.ts'
import { answerRefusal, asRefusal } from './failure.ts'
import { describeApi } from './openapi.ts'
import { mountRest } from './rest.ts'

/** An input of 1 MiB and what is around it. */
const MAX_BODY_BYTES = 1_048_576 + 65_536

const EXPOSED = [
  'WWW-Authenticate',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Mcp-Session-Id',
]

export function relayApp(relay: RelayContext): Hono {
  const app = new Hono()
  const { publicUrl } = relay.settings
  app.use(cors({ origin: '*', exposeHeaders: EXPOSED }))
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context) =>
        answerRefusal(context, new Refusal('payload_too_large', `expected at most ${MAX_BODY_BYTES} bytes`)),
    }),
  )
  app.onError((error, context) => {
    const refusal = asRefusal(relay, error)
    if (refusal.code === 'unauthorized') {
      const wasSent = context.req.header('authorization') !== undefined
      context.header('www-authenticate', challenge(`${publicUrl}/.well-known/oauth-protected-resource`, wasSent))
    }
    return answerRefusal(context, refusal)
  })
  app.notFound((context) => answerRefusal(context, new Refusal('not_found', 'expected a path of this relay')))
  app.get('/healthz', (context) => context.json({ ok: true, service: 'relay' }))
  app.get('/readyz', async (context) => {
    await relay.database.check()
    return context.json({ ok: true, db: true })
  })
  const description = describeApi(OPERATIONS, publicUrl, VERSION)
  app.get('/openapi.json', (context) => context.json(description))
  app.get('/.well-known/error-codes.json', (context) => context.json(REFUSALS))
  mountRest(app, relay, OPERATIONS)
  mountMcp(app, relay, OPERATIONS)
  mountAuthorization(app, relay)
  mountPages(app, relay)
  return app
}
