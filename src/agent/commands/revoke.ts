/**
 * `channel revoke` and `channel rotate-operator`: what an operator tells all members of its channel.
 *
 * @module
 */

import { MEMBER_ENV } from '../../channel/config.ts'
import { type BrokerPlace } from '../../channel/index.ts'
import { MEMBER_REMOVAL_ENV } from '../../channel/membership/config.ts'
import {
  encodeRevocations,
  encodeSuccession,
  type RevocationList,
  type SignedSuccession,
  sealSuccession,
} from '../../channel/membership/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Verified } from '../../core/artefact.ts'
import { toHex } from '../../core/bytes.ts'
import { type Env, type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import { holderKey } from '../../core/keys.ts'
import { saturatingAdd, u64, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { hasBroker, readBrokerWays } from '../front-door.ts'
import { notice, printLine } from '../io.ts'
import { issueList, type ListOrder } from './list-issue.ts'
import { readRequired } from './required.ts'
import { REVOKING, ROTATING_OPERATOR } from './signing-settings.ts'

export async function revoke(context: Context): Promise<number> {
  const { io, env, switches } = context
  const { operatorKey, channel } = readRequired(REVOKING, env)
  const signer = holderKey(operatorKey)
  const { operator = signer.id, ...known } = readKnown(env)
  const order = { operator, signer, channel, ...known }
  const list = await issueList(context, order)
  const { sequence, removed } = list.body
  const hex = toHex(encodeRevocations(list))
  const published = order.broker !== undefined
  const json = { channel, sequence: toJsonValue(sequence), removed, published, list: hex }
  await printLine(io, switches.has('json') ? JSON.stringify(json) : hex)
  tell(context, `removed: ${removed.length}`, list, order)
  return 0
}

export async function rotateOperator(context: Context): Promise<number> {
  const { io, env, clock, switches } = context
  const { operatorKey, newOperatorKey, channel, overlapSeconds } = readRequired(ROTATING_OPERATOR, env)
  const { operator = holderKey(operatorKey).id, ...known } = readKnown(env)
  const issuedAt = unixSeconds(clock)
  const overlapUntil = saturatingAdd(issuedAt, u64(overlapSeconds))
  const keys = { oldKey: operatorKey, newKey: newOperatorKey }
  const succession = sealSuccession({ channel, kind: 'operator', issuedAt, overlapUntil, ...keys })
  const order = {
    ...known,
    operator,
    signer: holderKey(newOperatorKey),
    successions: [...known.successions, succession],
    channel,
    members: [],
  }
  const list = await issueList(context, order)
  const hex = toHex(encodeSuccession(succession))
  const { from, to } = succession.body
  const published = order.broker !== undefined
  const json = { channel, from, to, overlap_until: toJsonValue(overlapUntil), published, succession: hex }
  await printLine(io, switches.has('json') ? JSON.stringify(json) : hex)
  tell(context, `the old key counts until ${overlapUntil}`, list, order)
  return 0
}

interface Known extends Pick<ListOrder, 'successions' | 'members' | 'file' | 'broker'> {
  readonly operator?: HolderId
}

function readKnown(env: Env): Known {
  const problems: EnvProblem[] = []
  const { members = [] } = readEnv({ members: MEMBER_REMOVAL_ENV.members }, env, problems)
  const { revocations, successions } = BROKERED_ENV
  const kept = readEnv({ file: revocations, successions }, env, problems)
  const { operator } = readEnv({ operator: MEMBER_ENV.operator }, env, problems)
  const broker: readonly BrokerPlace[] | undefined = hasBroker(env) ? readBrokerWays(env, problems) : undefined
  refuseProblems(problems)
  const shown: readonly SignedSuccession[] = (kept.successions ?? []).filter(({ body }) => body.kind === 'operator')
  return { successions: shown, members, file: kept.file, broker, ...(operator === undefined ? {} : { operator }) }
}

function tell({ io }: Context, what: string, { body }: Verified<RevocationList>, { file, broker }: ListOrder): void {
  const where = [
    ...(file === undefined ? [] : [`is in ${file}`]),
    ...(broker === undefined ? [] : ['is at the broker']),
  ]
  const known = where.length === 0 ? 'is to be given to the members, or to a broker' : where.join(' and ')
  notice(io, `ct-agent channel: ${what}; list ${body.sequence} ${known}`)
}
