/**
 * Whether the peer is there, is the right one, and answers.
 *
 * Holds: no invitation is redeemed and no membership renewed; where this agent has no key yet, none is kept.
 *
 * @module
 */
import { CtError, ERROR_CODES, type ErrorCode, toCtError } from '../../core/errors.ts'
import { SecretKey } from '../../core/keys.ts'
import { abortable } from '../../core/time.ts'
import { openCaller } from '../calling/caller.ts'
import { callerOptions } from '../calling/peer-way.ts'
import { listTools } from '../calling/tool-list.ts'
import { type Context } from '../command.ts'
import { withoutNotices } from '../io.ts'
import { isInvitation } from '../peers/joining.ts'
import { accessPeer } from '../peers/peer-access.ts'
import { type Finding, type FindingCode, found } from './catalogue.ts'
import { type Knock, knock, QUICK_MS } from './knock.ts'
import { addressesOf, type NamedSubject, type Subject } from './subject.ts'

/** Leaves time to report within the limit of a check. */
const REACH_MS = 8_000

export interface PeerProbe {
  readonly subject: Subject
  /** What leads to the peer is good. */
  readonly isGood: boolean
  /** This agent has keys already. */
  readonly hasKeys: boolean
}

export async function checkPeer(context: Context, probe: PeerProbe, signal: AbortSignal): Promise<Finding> {
  const { named } = probe.subject
  if (named === undefined) return found('peer.skipped', 'no peer was named')
  if (named instanceof CtError || !probe.isGood) return found('peer.skipped', 'what leads there is of no use')
  const knocking = Promise.all(addressesOf(named).map((address) => knock(address, signal)))
  if (named.ticket !== undefined && isInvitation(named.ticket)) return checkInviting(await knocking)
  const began = context.clock.monotonic()
  try {
    const count = await reach(context, probe, named, signal)
    return found('peer.ok', `it answers, and lists ${count} ${count === 1 ? 'tool' : 'tools'}`)
  } catch (error) {
    const reason = toCtError(error)
    const isQuick = context.clock.monotonic() - began < QUICK_MS
    return found(codeOf(reason.code, await knocking, isQuick), reason.message, reason.code)
  }
}

function checkInviting(knocks: readonly Knock[]): Finding {
  const isThere = knocks.includes('open')
  return found(
    'peer.skipped',
    `an invitation is not redeemed here${isThere ? '; something listens where it leads' : ''}`,
  )
}

async function reach(
  context: Context,
  { subject: { settings }, hasKeys }: PeerProbe,
  { given }: NamedSubject,
  signal: AbortSignal,
): Promise<number> {
  const { io, clock } = context
  const quiet = { ...context, io: withoutNotices(io) }
  const { values } = settings
  const keys = hasKeys ? {} : { holderKey: SecretKey.generate(), noiseKey: SecretKey.generate() }
  const timeLimited = { ...settings, timeoutMs: REACH_MS, values: { ...values, ...keys } }
  const { way } = await accessPeer(quiet, timeLimited, given)
  const late = new AbortController()
  const where = way.broker === undefined ? 'at its addresses' : 'at the broker or at its addresses'
  const reason = new CtError('ERR_PEER_UNREACHABLE', `it was not met ${where} within ${REACH_MS / 1_000} s`)
  const cancel = clock.after(REACH_MS, () => late.abort(reason))
  const stop = AbortSignal.any([signal, late.signal])
  try {
    const caller = await abortable(openCaller(quiet, callerOptions(quiet, way, timeLimited), stop), stop)
    try {
      return (await listTools(caller, { signal: stop })).tools.length
    } catch (error) {
      if (!stop.aborted) throw error
      throw new CtError(
        'ERR_PEER_UNRESPONSIVE',
        `it let this agent in, and did not list its tools within ${REACH_MS / 1_000} s`,
      )
    } finally {
      caller.close()
    }
  } finally {
    cancel()
  }
}

function codeOf(code: ErrorCode, knocks: readonly Knock[], isQuick: boolean): FindingCode {
  if (code !== 'ERR_PEER_UNREACHABLE' && code !== 'ERR_TIMEOUT') return BY_ERROR.get(code) ?? refusalOr(code)
  if (knocks.includes('open')) return isQuick ? 'peer.not_a_peer' : 'peer.silent'
  if (knocks.length > 0 && knocks.every((outcome) => outcome === 'closed')) return 'peer.closed'
  return knocks.includes('silent') ? 'peer.silent' : 'peer.unreachable'
}

/** What only a person can mend is a refusal. */
function refusalOr(code: ErrorCode): FindingCode {
  return ERROR_CODES[code].exit === REFUSED_EXIT ? 'peer.refused' : 'peer.failed'
}

const REFUSED_EXIT = 3

const BY_ERROR: ReadonlyMap<ErrorCode, FindingCode> = new Map([
  ['ERR_PEER_KEY_MISMATCH', 'peer.other_key'],
  ['ERR_PEER_BUSY', 'peer.busy'],
  ['ERR_PEER_SHUTDOWN', 'peer.busy'],
  ['ERR_PEER_UNRESPONSIVE', 'peer.silent'],
  ['ERR_PROTOCOL', 'peer.not_a_peer'],
  ['ERR_VERSION_UNSUPPORTED', 'peer.not_a_peer'],
])
