/**
 * An endpoint of MCP over Streamable HTTP that keeps nothing: any relay of the same database answers.
 *
 * @module
 */
import { type Context } from 'hono'
import { answerPosted, readPost, serveAsked, type ToolServer } from '../../mcp/stateless/index.ts'

/** What the answer is made with, for one POST. */
export interface Post {
  readonly server: ToolServer
  /** That the answer is to have. */
  readonly headers: Headers
}

const JSON_TYPE = 'application/json'

/** @throws {Refusal} what `open` throws, before anything of the message is looked at */
export async function answerMcp(context: Context, open: () => Promise<Post>): Promise<Response> {
  if (context.req.method !== 'POST') {
    context.header('allow', 'POST')
    return context.body('expected POST: this server keeps no sessions\n', 405)
  }
  const { server, headers } = await open()
  const posted = readPost(await context.req.text(), (name) => context.req.header(name))
  if (posted.kind === 'taken') return context.body(null, 202)
  if (posted.kind === 'refused') return answer(posted.status, posted.text, headers)
  const answers = await Promise.all(
    posted.members.map(async (member) => (typeof member === 'string' ? member : serveAsked(member, server))),
  )
  const { status, text } = answerPosted(posted, answers)
  return answer(status, text, headers)

  function answer(status: number, text: string, more: Headers): Response {
    for (const [name, value] of more) context.header(name, value)
    context.header('content-type', JSON_TYPE)
    context.header('cache-control', 'no-store')
    return context.body(text, status as 200)
  }
}
