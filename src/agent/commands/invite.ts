/**
 * `ct-agent invite`: a ticket with which somebody becomes a member of the agent that serves here.
 *
 * @module
 */
import {
  brokerText,
  CHANNEL_ENV,
  formatAddress,
  formatBroker,
  formatTicket,
  parseAddress,
  parseBroker,
} from '../../channel/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type EnvProblem, type EnvValues, missing, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { type Parsed, shortId } from '../../core/ids.ts'
import { generateInstanceId, holderKey, SecretKey } from '../../core/keys.ts'
import { writeSecretFile } from '../../core/secret-file.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { type Inviter, keepInvitation, type MadeInvitation, makeInvitation } from '../members/inviting.ts'
import { invitationId } from '../members/members-report.ts'
import { loadOperator } from '../members/operator-keys.ts'
import { type ServedPlace } from '../members/roster.ts'
import { readWish, unservedTools } from '../members/wishes.ts'
import { noteInAudit } from '../observing/audit/note.ts'
import { loadChannel, loadSecret } from '../state.ts'
import { withRoster } from './with-roster.ts'

const INVITER_ENV = {
  broker: BROKERED_ENV.broker,
  advertise: CHANNEL_ENV.advertise,
  holderKey: CHANNEL_ENV.holderKey,
}

export async function invite(context: Context): Promise<number> {
  const { env, switches, values: flags } = context
  if (switches.has('qr') && switches.has('json')) throw new CtError('ERR_USAGE', 'expected --qr or --json, found both')
  const problems: EnvProblem[] = []
  const values = readEnv(INVITER_ENV, env, problems)
  refuseProblems(problems)
  return withRoster(context, async (roster, now) => {
    const place = roster.read((page) => page.place())
    const wish = readWish(flags, place?.tools ?? [])
    const made = makeInvitation(wish, inviterOf(context, values, place), SecretKey.generate(), now)
    await announce(context, made, place, () => roster.update((page) => keepInvitation(page, made.record, now)))
    const { invitee, name, uses } = made.record
    await noteInAudit(context, 'member_invited', { invitation: shortId(invitee), name, uses })
  })
}

/** What is not said is as `ct-agent serve` had it last. */
function inviterOf({ stateDir }: Context, values: EnvValues<typeof INVITER_ENV>, place?: ServedPlace): Inviter {
  const broker = values.broker ?? place?.broker.map((text) => kept(parseBroker(text)))
  if (broker === undefined) throw needsBroker()
  const own = values.holderKey
  return {
    operator: loadOperator(stateDir),
    channel: loadChannel(stateDir),
    holder:
      own === undefined && place !== undefined ? place.holder : holderKey(own ?? loadSecret(stateDir, 'holder.key')).id,
    broker,
    addresses: values.advertise ?? place?.addresses.map((text) => kept(parseAddress(text))) ?? [],
  }
}

function needsBroker(): CtError {
  const { name, message } = missing(BROKERED_ENV.broker)
  return new CtError(
    'ERR_CONFIG_INVALID',
    `${message}; or start ct-agent serve --broker first, with this state folder`,
    {
      detail: { variables: [name] },
    },
  )
}

function kept<Value>(parsed: Parsed<Value>): Value {
  if ('problem' in parsed)
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot use the list of members: ${parsed.problem}`)
  return parsed.value
}

/** @param keep makes the invitation count: a ticket that could not be handed over is none */
async function announce(
  { io, switches, values }: Context,
  { ticket, record }: MadeInvitation,
  place: ServedPlace | undefined,
  keep: () => void,
): Promise<void> {
  const text = formatTicket(ticket)
  const file = values.get('ticket-file')
  if (file !== undefined) writeSecretFile(file, `${text}\n`, generateInstanceId())
  keep()
  if (switches.has('json'))
    await printLine(
      io,
      JSON.stringify({ ...(file === undefined ? { ticket: text } : {}), ...fieldsOf({ ticket, record }) }),
    )
  else if (file === undefined) await printLine(io, text)
  else notice(io, `ct-agent: the invitation is in ${file}`)
  if (switches.has('qr')) await showQr(io, text)
  for (const line of linesOf({ ticket, record }, place)) notice(io, `ct-agent: ${line}`)
}

function fieldsOf({ ticket, record }: MadeInvitation) {
  const { holder, addresses, rendezvous } = ticket
  const { invitee, sealed, uses, tools, name } = record
  return {
    id: invitationId(invitee),
    uses,
    expires_at: toJsonValue(sealed.body.expiresAt),
    rights: sealed.body.rights,
    ...(tools === undefined ? {} : { tools }),
    ...(name === undefined ? {} : { name }),
    holder,
    addresses: addresses.map(formatAddress),
    broker: (rendezvous?.broker ?? []).map(brokerText),
  }
}

function linesOf({ ticket: { rendezvous }, record }: MadeInvitation, place?: ServedPlace): readonly string[] {
  const { invitee, sealed, uses, tools } = record
  const { rights, expiresAt } = sealed.body
  const unserved = place === undefined ? [] : unservedTools(tools, place.tools)
  const what = tools === undefined ? 'all tools' : `the tools ${tools.join(', ')}`
  return [
    `good for ${uses === 1 ? 'one member' : `${uses} members`} until ${shownTime(expiresAt)}; rights ${rights}, ${what}`,
    `through the broker at ${(rendezvous?.broker ?? []).map(formatBroker).join(', ')}`,
    'pass it on in private; on the other machine: CT_TICKET=… ct-agent join, or ct-agent join @file',
    `to take it back: ct-agent invite revoke ${invitationId(invitee)}`,
    ...(place === undefined ? ['it can be redeemed while ct-agent serve --broker runs with this state folder'] : []),
    ...(unserved.length === 0 ? [] : [`not served at present: ${unserved.join(', ')}`]),
  ]
}

/** Capitals and digits alone make a smaller picture, and a ticket is read in either case. */
async function showQr(io: Context['io'], text: string): Promise<void> {
  const { renderUnicodeCompact } = await import('uqr')
  const picture = renderUnicodeCompact(text.toUpperCase(), { border: 2 })
  const width = picture.indexOf('\n')
  const columns = io.stderr.isTTY === true ? io.stderr.columns : width
  if (columns < width) notice(io, `ct-agent: the QR code needs ${width} columns, and the terminal has ${columns}`)
  else notice(io, picture)
}
