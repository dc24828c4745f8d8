/**
 * The door of a serving agent that is the operator of its own channel: who comes in, as what, and what it may do there.
 *
 * Holds: every question is answered from the file, so what another process changed counts at once. What goes wrong with
 * the file is for the log alone, and nobody is admitted meanwhile.
 *
 * @module
 */
import {
  GRANT,
  type Membership,
  type RevocationList,
  type SignedSuccession,
  sealStaple,
} from '../../channel/membership/index.ts'
import { seal, type Verified } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type U64, type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { type ExtensionMethods, type PeerLimits } from '../../mcp/index.ts'
import { type AuditFacts } from '../observing/audit/audit-line.ts'
import { hideLocalErrors } from '../serving/local-errors.ts'
import { grantFrom, isDue } from './grant-life.ts'
import { MEMBERSHIP_METHOD, type MembershipDocument, membershipJson } from './membership-document.ts'
import { type OperatorKeys, standingKeys } from './operator-keys.ts'
import { guestMethods } from './redeeming.ts'
import { revocationList } from './revoked.ts'
import { type MemberRecord, type Roster, type RosterPage, type RosterView, type ServedPlace } from './roster.ts'
import { type Standing, standingOf } from './standing.ts'

export interface ReceptionDeps {
  readonly roster: Roster
  readonly operator: OperatorKeys
  readonly channel: ChannelId
  /** The invited key of the ticket that is given out; none for members only. */
  readonly bearer: HolderId | undefined
  /** How long a member's grant holds. */
  readonly grantSeconds: U64
  readonly clock: Clock
  readonly log: Log
  /** Writes down what becomes of members. */
  readonly audit?: ((event: string, facts: AuditFacts) => void) | undefined
}

export interface ShownRevocations {
  readonly list: Verified<RevocationList>
  /** From the operator's first key to the one that signed the list. */
  readonly successions: readonly SignedSuccession[]
}

/** How one session is served. */
export interface Welcome {
  readonly standing: Standing
  /** A guest is served nothing but the methods. */
  readonly servesTools: boolean
  readonly methods: ExtensionMethods
  readonly limits: PeerLimits
}

export class Reception {
  readonly #deps: ReceptionDeps

  constructor(deps: ReceptionDeps) {
    this.#deps = deps
  }

  /** Where that cannot be told, {@link refusal} refuses: nobody is to be told that it was removed because of a fault. */
  readonly isRemoved = (holder: HolderId): boolean => {
    const removed = this.#unlessFaulty(() => this.isRemovedNow(holder))
    return removed === true
  }

  /** Why a membership that the operator's grants give does not count, if so. */
  readonly refusal = (membership: Chained): CtError | undefined => {
    const standing = this.standingOf(membership)
    return standing instanceof CtError ? standing : undefined
  }

  /** Where that cannot be told, word to come again. */
  standingOf(membership: Chained): Standing | CtError {
    return this.#unlessFaulty(() => this.standingNow(membership))
  }

  /** @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` */
  standingNow({ chain }: Chained): Standing | CtError {
    const { roster, bearer, clock } = this.#deps
    return roster.read((page) => standingOf(page, chain, { bearer, now: unixSeconds(clock) }))
  }

  /** @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` */
  isRemovedNow(holder: HolderId): boolean {
    return this.#deps.roster.read((page) => page.isRemoved(holder))
  }

  /** @param leave ends the session */
  welcome(standing: Standing, rights: Membership['rights'], leave: (reason: CtError) => void): Welcome {
    const limits = limitsOf(standing, rights)
    switch (standing.kind) {
      case 'bearer':
        return { standing, limits, servesTools: true, methods: new Map() }
      case 'member': {
        const { holder } = standing.member
        return { standing, limits, servesTools: true, methods: this.#memberMethods(holder) }
      }
      case 'guest': {
        const { operator, ...deps } = this.#deps
        const { channel, clock } = deps
        const operators = () => standingKeys(operator.current(), channel, unixSeconds(clock))
        const documentOf = (holder: HolderId): MembershipDocument => this.documentOf(holder)
        const methods = guestMethods(standing.invitee, { ...deps, operators, documentOf }, leave)
        return { standing, limits, servesTools: false, methods }
      }
    }
  }

  /**
   * The grant is the one that stands, or a new one when half of its time is over.
   *
   * @throws {CtError} `ERR_MEMBER_REMOVED`, `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY`
   */
  documentOf(holder: HolderId): MembershipDocument {
    const { operator, channel, clock, roster, grantSeconds } = this.#deps
    const now = unixSeconds(clock)
    const known = roster.read((page) => memberIn(page, holder))
    const { name, rights, grantEnds } = isDue(known, now)
      ? roster.update((page) => renewedIn(page, holder, { now, grantSeconds }))
      : known
    const { signer, successions } = operator.current()
    const body = { channel, holder, direction: 'initiate', rights, delegable: false, expiresAt: grantEnds } as const
    return {
      grant: seal(GRANT, body, signer.secret),
      staple: sealStaple({ channel, holder }, signer.secret, now),
      name,
      successions,
    }
  }

  /** Whom brokers and members need to know of; none while nobody was ever removed, and the key never changed. */
  revocations(): ShownRevocations | undefined {
    const { roster, operator, channel, clock } = this.#deps
    const { signer, successions } = operator.current()
    const now = unixSeconds(clock)
    // A newer list goes everywhere, and the successions with it.
    if (successions.length > 0 && roster.read((page) => page.signer()) !== signer.id) {
      roster.update((page) => page.noteSigner(signer.id, now))
    }
    const list = roster.read((page) => revocationList(page, { operator: signer.secret, channel, now }))
    return list && { list, successions }
  }

  remember(place: ServedPlace): void {
    this.#deps.roster.update((page) => page.remember(place))
  }

  /**
   * Calls back soon after another process has changed something; the returned function ends that.
   *
   * Where the file cannot be read, or what is called back throws, it is tried again.
   */
  watch(onChange: () => void): () => void {
    const { roster, operator, clock, log } = this.#deps
    let isDue = false
    let cancel: () => void
    const arm = (): void => {
      cancel = clock.after(LOOK_EVERY_MS, look)
    }
    const look = (): void => {
      try {
        isDue = roster.changedElsewhere() || isDue
        if (isDue) {
          operator.reload()
          onChange()
        }
        isDue = false
      } catch (error) {
        log.error('members.unavailable', { reason: String(error) })
      }
      arm()
    }
    arm()
    return () => cancel()
  }

  #memberMethods(holder: HolderId): ExtensionMethods {
    const answer = () => membershipJson(this.documentOf(holder))
    return new Map([[MEMBERSHIP_METHOD, () => hideLocalErrors(answer)]])
  }

  #unlessFaulty<Result>(work: () => Result): Result | CtError {
    try {
      return work()
    } catch (cause) {
      this.#deps.log.error('members.unavailable', { reason: String(cause) })
      const detail = { retryAfterMs: RETRY_MS }
      return new CtError('ERR_PEER_BUSY', 'the serving side cannot look up its members now', { cause, detail })
    }
  }
}

function memberIn(page: RosterView, holder: HolderId): MemberRecord {
  const member = page.isRemoved(holder) ? undefined : page.member(holder)
  if (member === undefined) throw new CtError('ERR_MEMBER_REMOVED', `${holder} is no member any more`)
  return member
}

/** What was read before the transaction counts for nothing: a removal remembers how long the grants of before hold. */
function renewedIn(
  page: RosterPage,
  holder: HolderId,
  { now, grantSeconds }: { readonly now: UnixSeconds; readonly grantSeconds: U64 },
): MemberRecord {
  const member = memberIn(page, holder)
  if (!isDue(member, now)) return member
  const renewed = { ...member, ...grantFrom(now, grantSeconds, member) }
  page.putMember(renewed)
  return renewed
}

type Chained = Pick<Membership, 'chain'>

/** What another process or the disk holds up for a moment is over by then. */
const RETRY_MS = 1_000
/** A removal by another process is noticed this late at most. */
const LOOK_EVERY_MS = 250

/** Whoever may do anything here may ask what it is. */
const FREE_METHODS: ReadonlySet<string> = new Set([MEMBERSHIP_METHOD])

/** What the roster says of a member now counts, whatever its grant said when it was signed. */
export function limitsOf(standing: Standing, rights: Membership['rights']): Required<PeerLimits> {
  switch (standing.kind) {
    case 'guest':
      return { rights: undefined, allowedTools: undefined, freeMethods: undefined }
    case 'bearer':
      return { rights, allowedTools: undefined, freeMethods: FREE_METHODS }
    case 'member': {
      const { tools, rights: own } = standing.member
      return { rights: own, allowedTools: tools && new Set(tools), freeMethods: FREE_METHODS }
    }
  }
}
