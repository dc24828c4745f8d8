/**
 * `ct-agent relay` and `ct-agent relay admin …`.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { writeSecretFile } from '../../core/secret-file.ts'
import {
  type DatabaseLocation,
  type Operator,
  openOperator,
  openRelay,
  operatorOf,
  Refusal,
  type Relay,
} from '../../relay/index.ts'
import { type Context } from '../command.ts'
import { readSettingFile } from '../input.ts'
import { notice, printLine } from '../io.ts'
import { RELAY_ENV } from '../relaying/relay-settings.ts'
import { printResult } from '../result.ts'
import { aborted, watchShutdown } from '../shutdown.ts'
import { tableLines } from '../table.ts'

const DATABASE_FILE = 'relay.db'
/** The key of the account that the relay makes for its operator. */
const FIRST_KEY_FILE = 'relay-first.key'
const FIRST_EMAIL = 'operator@localhost'
const PASSWORD_BYTES = 15

export async function relay(context: Context): Promise<number> {
  const { io, env, clock, log, switches, drainSeconds } = context
  const problems: EnvProblem[] = []
  const { address, database, publicUrl, ...settings } = readEnv(RELAY_ENV, env, problems)
  refuseProblems(problems)
  const shutdown = watchShutdown(io, 'ERR_STOPPED')
  try {
    const running = await openRelay({
      database: database ?? fileDatabase(context),
      host: address.host,
      port: address.port,
      settings: { ...settings, ...(publicUrl === undefined ? {} : { publicUrl }) },
      clock,
      log,
    })
    try {
      const url = running.settings.publicUrl
      await printLine(io, switches.has('json') ? JSON.stringify({ url }) : url)
      await welcome(context, running)
      await aborted(shutdown.signal)
    } finally {
      await running.close(drainSeconds * 1_000)
    }
    return 0
  } finally {
    shutdown.dispose()
  }
}

/** An account for the operator, where there is nobody yet, and how to connect. */
async function welcome({ io, stateDir }: Context, running: Relay): Promise<void> {
  const operator = operatorOf(running)
  const url = running.settings.publicUrl
  if ((await operator.people()).length > 0) return
  const first = { email: FIRST_EMAIL, displayName: 'Operator', isAdmin: true, keyName: 'first key' }
  const made = await operator.createPerson(first).catch((error: unknown) => {
    // Another relay that started on the same file at the same moment made it.
    if (error instanceof Refusal && error.code === 'conflict') return undefined
    throw error
  })
  if (made === undefined) return
  const path = `${stateDir}/${FIRST_KEY_FILE}`
  writeSecretFile(path, made.api_key ?? '', generateInstanceId())
  notice(io, `ct-agent: made the account ${made.account_slug} (${made.email}); its API key is in ${path}`)
  notice(io, `ct-agent: Claude Code: claude mcp add --transport http relay ${url}/mcp`)
  notice(io, `ct-agent: Cursor, in mcp.json: {"mcpServers": {"relay": {"url": "${url}/mcp"}}}`)
  notice(io, `ct-agent: a script: curl -H "Authorization: Bearer $(cat ${path})" ${url}/v1/agents`)
  notice(
    io,
    `ct-agent: for the pages at ${url}/app, make a password: ct-agent relay admin reset-password ${FIRST_EMAIL}`,
  )
}

export function createRelayUser(context: Context): Promise<number> {
  return withOperator(context, async (operator) => {
    const { operands, values, switches } = context
    const [email = ''] = operands
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new CtError('ERR_USAGE', `expected an e-mail address, found ${email}`)
    const { password, toTell } = choosePassword(context)
    const made = await operator.createPerson({
      email,
      displayName: values.get('name') ?? email.split('@')[0] ?? email,
      slug: values.get('slug'),
      isAdmin: switches.has('admin'),
      password,
      keyName: switches.has('api-key') ? 'first key' : undefined,
    })
    await printFields(context, { ...made, ...toTell })
  })
}

export function listRelayUsers(context: Context): Promise<number> {
  return withOperator(context, async (operator) => {
    const { io, switches } = context
    const people = await operator.people()
    if (switches.has('json')) await printLine(io, JSON.stringify({ users: people }))
    else if (people.length === 0)
      notice(io, 'ct-agent: there is nobody; ct-agent relay admin create-user makes somebody')
    else {
      const rows = people.map((person) => [
        person.email,
        person.display_name,
        person.is_admin ? 'administrator' : '',
        person.created_at,
        person.id,
      ])
      await printResult(io, tableLines(rows).join('\n'))
    }
  })
}

export function resetRelayPassword(context: Context): Promise<number> {
  return withOperator(context, async (operator) => {
    const [email = ''] = context.operands
    const { password, toTell } = choosePassword(context)
    await operator.setPassword(email, password)
    await printFields(context, { email, ...toTell })
  })
}

function fileDatabase({ stateDir }: Context): DatabaseLocation {
  return { kind: 'file', path: `${stateDir}/${DATABASE_FILE}` }
}

async function withOperator(context: Context, work: (operator: Operator) => Promise<void>): Promise<number> {
  const problems: EnvProblem[] = []
  const { database } = readEnv({ database: RELAY_ENV.database }, context.env, problems)
  refuseProblems(problems)
  const operator = await openOperator(database ?? fileDatabase(context), context.clock, context.log)
  try {
    await work(operator)
    return 0
  } catch (error) {
    if (error instanceof Refusal) throw new CtError('ERR_RELAY_REFUSED', error.message, { cause: error })
    throw error
  } finally {
    await operator.close()
  }
}

/** What the file says; one that is made here has to be told. */
function choosePassword({ values }: Context): { readonly password: string; readonly toTell: { password?: string } } {
  const path = values.get('password-file')
  if (path !== undefined) return { password: readSettingFile(path).replace(/\r?\n$/, ''), toTell: {} }
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  return { password, toTell: { password } }
}

function printFields({ io, switches }: Context, fields: Readonly<Record<string, string>>): Promise<void> {
  return printResult(io, switches.has('json') ? JSON.stringify(fields) : tableLines(Object.entries(fields)).join('\n'))
}
