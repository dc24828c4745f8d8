/**
 * A newer revocation list of an operator: signed, kept in its file and brought to its broker.
 *
 * @module
 */
import { type BrokerPlace } from '../../channel/index.ts'
import {
  KnownRevocations,
  type RevocationList,
  type SignedSuccession,
  sealRevocations,
} from '../../channel/membership/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type HolderKey } from '../../core/keys.ts'
import { U64_MAX, u64, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { readRevocationFile, writeRevocationFile } from '../revocation-file.ts'
import { watchShutdown } from '../shutdown.ts'

export interface ListOrder {
  /** The operator’s first key, by which the channel is known. */
  readonly operator: HolderId
  /** The operator’s key of today. */
  readonly signer: HolderKey
  /** From the one to the other. */
  readonly successions: readonly SignedSuccession[]
  readonly channel: ChannelId
  /** To remove besides those that were. */
  readonly members: readonly HolderId[]
  /** Where the list is kept. */
  readonly file: string | undefined
  /** Where it is published. */
  readonly broker: readonly BrokerPlace[] | undefined
}

/** @throws {CtError} why a list that is known cannot be used, the file not be written, or the broker not be told */
export async function issueList({ io, clock }: Context, order: ListOrder): Promise<Verified<RevocationList>> {
  const { operator, signer, channel, file, broker } = order
  const known = new KnownRevocations({ operator, channel, clock })
  known.follow(order.successions)
  if (file !== undefined) learnFile(known, file, channel)
  const next = (newest: Verified<RevocationList> | undefined): Verified<RevocationList> => {
    const list = extended(order, [known.newest, newest], unixSeconds(clock))
    if (file !== undefined) writeRevocationFile(file, list, known.shown)
    return list
  }
  let list = next(undefined)
  if (broker === undefined) return list
  const shutdown = watchShutdown(io)
  try {
    const { publishRevocations } = await import('../../channel/index.ts')
    const options = { identity: signer, operator, successions: known.shown, channel, broker, clock }
    const adding = (newest: Verified<RevocationList> | undefined): Verified<RevocationList> => {
      list = next(newest)
      return list
    }
    await publishRevocations({ ...options, next: adding }, shutdown.signal)
    return list
  } finally {
    shutdown.dispose()
  }
}

/** All that were removed before, and these; later than every list that is known, and than any that was lost. */
function extended(
  { signer, channel, members }: ListOrder,
  before: readonly (Verified<RevocationList> | undefined)[],
  issuedAt: RevocationList['issuedAt'],
): Verified<RevocationList> {
  const lists = before.flatMap((list) => (list === undefined ? [] : [list.body]))
  const sequences = lists.map(({ sequence }) => sequence).sort((one, other) => (one < other ? -1 : 1))
  const highest = sequences.at(-1) ?? u64(0)
  if (highest === U64_MAX) {
    throw new CtError('ERR_ARTEFACT_INVALID', 'expected a list that can be followed by another, found the last')
  }
  const sequence = highest >= issuedAt ? u64(highest + 1n) : issuedAt
  const removed = [...lists.flatMap((list) => list.removed), ...members]
  return sealRevocations({ channel, sequence, issuedAt, removed }, signer.secret)
}

function learnFile(known: KnownRevocations, file: string, channel: ChannelId): void {
  const { list, successions } = readRevocationFile(file)
  known.follow(successions)
  if (list === undefined) return
  if (list.body.channel !== channel) {
    throw new CtError('ERR_ARTEFACT_INVALID', `${file}: expected the list of channel ${channel}, found another’s`)
  }
  known.learn(list)
}
