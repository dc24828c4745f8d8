/**
 * Whether a broker is where it is said to be, and gives a place at its relay.
 *
 * Holds: it is asked as a member of a channel that is made for this and forgotten, so nobody's seat is taken. The member
 * has a key of its own; the operator is this agent where it is one, for some brokers admit certain operators alone.
 *
 * @module
 */
import {
  type BrokerOptions,
  type BrokerPlace,
  formatBroker,
  listen,
  type SelfDescription,
} from '../../channel/index.ts'
import { toHex } from '../../core/bytes.ts'
import { CtError, type ErrorCode, toCtError } from '../../core/errors.ts'
import { type ChannelId } from '../../core/ids.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey } from '../../core/keys.ts'
import { type Log } from '../../core/log.ts'
import { type Clock, type Random } from '../../core/time.ts'
import { saturatingAdd, u64, unixSeconds } from '../../core/u64.ts'
import { VERSION } from '../../core/version.ts'
import { openOwnChannel } from '../serving/own-channel.ts'
import { type Finding, type FindingCode, found } from './catalogue.ts'
import { type Knock, knock, QUICK_MS } from './knock.ts'

export interface BrokerProbe {
  /** All ways to the broker. */
  readonly places: readonly BrokerPlace[]
  /** Where the relay is, when it is not the broker. */
  readonly relay: readonly BrokerPlace[]
  /** The operator's key that this agent keeps, if it keeps one. */
  readonly operator: SecretKey | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Leaves time to report within the limit of a check. */
const PROBE_MS = 8_000
/** Far more than the probe takes. */
const GRANT_SECONDS = 300

type State = Parameters<BrokerOptions['onState']>[0]

export async function checkBroker(probe: BrokerProbe, signal: AbortSignal): Promise<readonly Finding[]> {
  const { places, clock } = probe
  if (places.length === 0) {
    return [found('broker.skipped', 'no broker is set or in the ticket'), found('relay.skipped', 'no broker is known')]
  }
  const late = new AbortController()
  const cancel = clock.after(PROBE_MS, () => late.abort())
  const stop = AbortSignal.any([signal, late.signal])
  try {
    const knocks = await Promise.all(places.map(async (place) => ({ place, outcome: await knock(place, stop) })))
    const open = knocks.filter(({ outcome }) => outcome === 'open')
    const shut = knocks
      .filter(({ outcome }) => outcome !== 'open')
      .map(({ place, outcome }) => shutFinding(place, outcome))
    if (open.length === 0) return [...shut, found('relay.skipped', 'the broker is not there')]
    const where = open.map(({ place }) => formatBroker(place)).join(', ')
    const findings = await stay({ ...probe, places: open.map(({ place }) => place) }, where, stop)
    // Some way works: what is wrong with another is worth a look.
    return [...findings, ...shut.map((finding): Finding => ({ ...finding, status: 'warn' }))]
  } finally {
    cancel()
  }
}

const SHUT: Readonly<Record<Exclude<Knock, 'open'>, readonly [FindingCode, string]>> = {
  closed: ['broker.closed', 'nothing listens there'],
  silent: ['broker.silent', 'no answer'],
  unreachable: ['broker.unreachable', 'there is no way there'],
}

function shutFinding(place: BrokerPlace, outcome: Knock): Finding {
  const [code, reason] = outcome === 'open' ? SHUT.unreachable : SHUT[outcome]
  return found(code, `${formatBroker(place)}: ${reason}`, 'ERR_PEER_UNREACHABLE')
}

/** Joins, asks for a place at the relay, and leaves. */
async function stay(probe: BrokerProbe, where: string, signal: AbortSignal): Promise<readonly Finding[]> {
  const states: State[] = []
  const told = Promise.withResolvers<void>()
  const onState = (state: State): void => {
    states.push(state)
    if (state.kind === 'trouble' || state.kind === 'reserved' || state.kind === 'not-reserved') told.resolve()
  }
  signal.addEventListener('abort', () => told.resolve(), { once: true })
  let refusal: CtError | undefined
  const began = probe.clock.monotonic()
  try {
    const listener = await listenBriefly(probe, onState)
    void listener.refused.then((reason) => {
      refusal = reason
      told.resolve()
    })
    await told.promise
    listener.close(new CtError('ERR_PEER_SHUTDOWN', 'the doctor has seen enough')).catch(() => {})
  } catch (error) {
    refusal = toCtError(error)
  }
  const isQuick = probe.clock.monotonic() - began < QUICK_MS
  return findingsOf(states, refusal, { where, isQuick })
}

function listenBriefly(
  { places, relay, operator: kept, clock, random, log }: BrokerProbe,
  onState: BrokerOptions['onState'],
) {
  const operator = holderKey(kept ?? SecretKey.generate())
  const channel = toHex(SecretKey.generate().reveal()) as ChannelId
  const self: SelfDescription = {
    holder: holderKey(SecretKey.generate()),
    noise: noiseKey(SecretKey.generate()),
    run: generateInstanceId(),
    agent: `ct-agent/${VERSION}`,
    mode: 'serve',
    limits: { messageBytes: 65_536, inFlight: 0, idleSeconds: 0 },
  }
  const expiresAt = saturatingAdd(unixSeconds(clock), u64(GRANT_SECONDS))
  const door = { isRemoved: () => false, refusal: () => undefined }
  const own = openOwnChannel({ operator, channel, self, invited: self.holder.id, expiresAt, door })
  return listen({
    self: { ...self, credentials: () => own.credentials },
    listen: [],
    trust: { channel: own.trust },
    maxSessions: 1,
    broker: { broker: places, relay, operator: operator.id, channel, relayOnly: true, random, onState },
    // Nobody knows of the channel, so nobody comes.
    onSession: (session) => session.end(new CtError('ERR_PEER_SHUTDOWN', 'nobody serves here')),
    clock,
    log,
  })
}

function findingsOf(
  states: readonly State[],
  refusal: CtError | undefined,
  { where, isQuick }: { readonly where: string; readonly isQuick: boolean },
): readonly Finding[] {
  const last = <Kind extends State['kind']>(kind: Kind) =>
    states.findLast((state): state is Extract<State, { kind: Kind }> => state.kind === kind)
  const joined = last('joined')
  if (joined === undefined) {
    const reason = refusal ?? last('trouble')?.reason
    if (reason !== undefined && reason.detail['category'] === NOT_MEMBER) {
      return [
        found('broker.private', `${where}: ${reason.message}`),
        found('relay.skipped', 'the broker is not for everybody'),
      ]
    }
    const finding =
      reason === undefined
        ? found('broker.silent', `${where}: something listens there, and does not answer`, 'ERR_TIMEOUT')
        : found(codeOf(reason.code, isQuick), reason.message, reason.code)
    return [finding, found('relay.skipped', 'the broker did not let this agent in')]
  }
  const ok = found('broker.ok', `${where}, which sees this machine at ${joined.observed.host}`)
  if (last('reserved') !== undefined) return [ok, found('relay.ok', 'it gives this agent a place')]
  const reason = last('not-reserved')?.reason
  return [ok, found('relay.no_place', `no place at the relay: ${reason?.message ?? 'no answer in time'}`, reason?.code)]
}

/** The broker's word for members of operators that it does not serve. */
const NOT_MEMBER = 'not-member'

function codeOf(code: ErrorCode, isQuick: boolean): FindingCode {
  // It does listen.
  if (code === 'ERR_PEER_UNREACHABLE') return isQuick ? 'broker.not_a_broker' : 'broker.silent'
  return BY_ERROR.get(code) ?? 'broker.refused'
}

const BY_ERROR: ReadonlyMap<ErrorCode, FindingCode> = new Map([
  ['ERR_PEER_KEY_MISMATCH', 'broker.other_key'],
  ['ERR_CERTIFICATE_UNTRUSTED', 'broker.certificate'],
  ['ERR_CERTIFICATE_EXPIRED', 'broker.certificate'],
  ['ERR_PROTOCOL', 'broker.not_a_broker'],
  ['ERR_VERSION_UNSUPPORTED', 'broker.not_a_broker'],
  ['ERR_LINK_LOST', 'broker.not_a_broker'],
])
