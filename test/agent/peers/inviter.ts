/**
 * A serving side inside the test that invites and makes members, honestly or not.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import {
  CHALLENGE_METHOD,
  MEMBERSHIP_METHOD,
  membershipJson,
  REDEEM_METHOD,
} from '../../../src/agent/members/membership-document.ts'
import { type Address, formatTicket, listen, parseBroker, type TrustPolicy } from '../../../src/channel/index.ts'
import { attestNoiseKey, GRANT } from '../../../src/channel/membership/index.ts'
import { INVITATION, openRedemption } from '../../../src/channel/membership/invitation.ts'
import { MEMBERSHIP_STAPLE, type MembershipStaple, sealStaple } from '../../../src/channel/membership/staple.ts'
import { seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type ChannelId, type HolderId, type Signature } from '../../../src/core/ids.ts'
import { generateInstanceId, type HolderKey, holderKey, noiseKey, SecretKey } from '../../../src/core/keys.ts'
import { systemClock } from '../../../src/core/time.ts'
import { U64_MAX, type UnixSeconds, u64, unixSeconds } from '../../../src/core/u64.ts'
import { createCallLedger, createToolRegistry, type JsonValue, pingTool, serveMcp } from '../../../src/mcp/index.ts'
import { silentLog } from '../../silent-log.ts'

export interface InviterOptions {
  /** Changes the staple that a newcomer gets. */
  readonly staple?: Partial<MembershipStaple>
  /** Signs what newcomers get; the operator unless given. */
  readonly signer?: SecretKey
  /** The first so many redemptions are done without being answered. */
  readonly forgetful?: number
  /** Answers redemptions with this. */
  readonly answer?: JsonValue
  readonly refuses?: () => CtError | undefined
}

export interface Inviter {
  readonly holder: HolderKey
  readonly operator: HolderKey
  readonly channel: ChannelId
  readonly address: Address
  /** A new invitation, for one member. */
  readonly invite: (expiresAt?: UnixSeconds) => string
  /** The methods that were called, in order. */
  readonly asked: string[]
  /** By invited key. */
  readonly members: ReadonlyMap<HolderId, HolderId>
  readonly remove: (holder: HolderId) => void
  readonly close: () => Promise<void>
}

const NOWHERE = parseBroker('127.0.0.1:1')
const OVER = new CtError('ERR_PEER_SHUTDOWN', 'the test is over')

export async function openInviter(options: InviterOptions = {}): Promise<Inviter> {
  const operator = holderKey(SecretKey.generate())
  const holder = holderKey(SecretKey.generate())
  const noise = noiseKey(SecretKey.generate())
  const channel = toHex(SecretKey.generate().reveal()) as ChannelId
  const removed = new Set<HolderId>()
  const members = new Map<HolderId, HolderId>()
  const asked: string[] = []
  let forgetful = options.forgetful ?? 0

  const document = (member: HolderId): JsonValue => {
    const now = unixSeconds(systemClock)
    const signer = options.signer ?? operator.secret
    const expiresAt = u64(now + 3_600n)
    const grant = { channel, holder: member, direction: 'initiate', rights: 'rw', delegable: false, expiresAt } as const
    const staple = sealStaple({ channel, holder: member }, signer, now).body
    return membershipJson({
      grant: seal(GRANT, grant, signer),
      staple: seal(MEMBERSHIP_STAPLE, { ...staple, ...options.staple }, signer),
      name: 'newcomer',
    })
  }

  const redeem = (invitee: HolderId, member: HolderId, challenge: Uint8Array, signature: Signature): void => {
    const permission = { channel, direction: 'initiate', rights: 'rw', delegable: false, expiresAt: U64_MAX } as const
    openRedemption(
      { holder: member, signature },
      seal(INVITATION, { ...permission, invitee }, operator.secret),
      challenge,
    )
    const earlier = members.get(invitee)
    if (earlier !== undefined && earlier !== member) throw new CtError('ERR_INVITATION_USED', 'it is used up')
    members.set(invitee, member)
  }

  const own = seal(
    GRANT,
    { channel, holder: holder.id, direction: 'accept', rights: 'rw', delegable: false, expiresAt: U64_MAX },
    operator.secret,
  )
  const credentials = { grants: [own], attestation: attestNoiseKey(channel, { holder, noise }) }
  const trust: TrustPolicy = {
    channel: { operator: operator.id, channel, isRevoked: (member) => removed.has(member) },
  }
  const listener = await listen({
    self: {
      holder,
      noise,
      run: generateInstanceId(),
      agent: 'test/0',
      mode: 'serve',
      limits: { messageBytes: 1_048_576, inFlight: 64, idleSeconds: 300 },
      credentials: () => credentials,
    },
    listen: [{ host: '127.0.0.1', port: 0 }],
    trust,
    maxSessions: 8,
    clock: systemClock,
    log: silentLog,
    onSession: (session) => {
      const member = session.peer.holder
      const [root] = session.peer.membership?.chain ?? []
      const challenge = randomBytes(32)
      const methods = new Map<string, (params: unknown) => JsonValue | Promise<JsonValue>>([
        [CHALLENGE_METHOD, () => ({ challenge: toHex(challenge) })],
        [
          REDEEM_METHOD,
          (params) => {
            const refusal = options.refuses?.()
            if (refusal !== undefined) throw refusal
            const { challenge: shown, signature } = params as { challenge: string; signature: string }
            if (root === undefined || shown !== toHex(challenge))
              throw new CtError('ERR_CHALLENGE_INVALID', 'another one')
            redeem(root, member, challenge, signature as Signature)
            forgetful -= 1
            if (forgetful >= 0) {
              session.end(new CtError('ERR_LINK_CLOSED', 'forgot what it wanted to say'))
              return new Promise(() => {})
            }
            return options.answer ?? document(member)
          },
        ],
        [MEMBERSHIP_METHOD, () => document(member)],
      ])
      serveMcp(session, {
        registry: createToolRegistry([pingTool]),
        ledger: createCallLedger(systemClock),
        log: silentLog,
        serverInfo: { name: 'test', version: '0' },
        randomId: () => 'id',
        methods: new Map(
          [...methods].map(([name, run]) => [
            name,
            (params) => {
              asked.push(name)
              return run(params)
            },
          ]),
        ),
      })
    },
  })
  const [address] = listener.addresses
  if (address === undefined || 'problem' in NOWHERE) throw new TypeError('a listener has an address')
  const { value: broker } = NOWHERE
  return {
    holder,
    operator,
    channel,
    address,
    invite: (expiresAt = u64(unixSeconds(systemClock) + 3_600n)) => {
      const secret = SecretKey.generate()
      const invitee = holderKey(secret).id
      const grant = {
        channel,
        holder: invitee,
        direction: 'initiate',
        rights: 'rw',
        delegable: true,
        expiresAt,
      } as const
      return formatTicket({
        holder: holder.id,
        addresses: [address],
        secret,
        rendezvous: {
          broker: [broker],
          operator: operator.id,
          grant: seal(GRANT, grant, operator.secret),
          isInvitation: true,
        },
      })
    },
    asked,
    members,
    remove: (member) => removed.add(member),
    close: () => listener.close(OVER),
  }
}
