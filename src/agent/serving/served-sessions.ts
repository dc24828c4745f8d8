/**
 * The sessions that an agent serves, each as what its peer comes.
 *
 * Holds: nobody is served before it is known as what it comes; a guest sees no tool and does not stay; and when it is
 * told that members changed, whoever was removed is out before it returns, with every call that runs for it.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { type Session } from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { VERSION } from '../../core/version.ts'
import {
  createCallLedger,
  createToolRegistry,
  type ExtensionMethods,
  type PeerLimits,
  type ServedLink,
  serveMcp,
  type ToolRegistry,
  type Upstream,
} from '../../mcp/index.ts'
import { limitsOf, type Reception } from '../members/reception.ts'
import { type Observing } from '../observing/observing.ts'

export interface ServedSessionsDeps {
  readonly registry: ToolRegistry
  readonly methods: ExtensionMethods
  readonly upstream?: Upstream | undefined
  readonly clock: Clock
  readonly log: Log
  readonly reception?: Reception | undefined
  readonly observing?: Observing | undefined
}

/** Enough to redeem an invitation. */
export const GUEST_STAY_MS = 60_000
/** Holders of which it is remembered on whom their membership rests: their calls may outlive their links for a while. */
const MAX_KNOWN_CHAINS = 4_096

/** What one peer is served. */
interface Fare {
  readonly registry: ToolRegistry
  readonly methods: ExtensionMethods
  readonly limits: PeerLimits
  readonly isGuest: boolean
}

const NO_TOOLS = createToolRegistry([])

export class ServedSessions {
  readonly #deps: ServedSessionsDeps
  readonly #ledger
  readonly #links = new Map<ServedLink, Session>()
  /** The latest of each holder, oldest first. */
  readonly #chains = new Map<HolderId, readonly HolderId[]>()

  constructor(deps: ServedSessionsDeps) {
    this.#deps = deps
    this.#ledger = createCallLedger(deps.clock)
  }

  attach(session: Session): void {
    const { log, observing } = this.#deps
    const fare = this.#fareOf(session)
    if (fare instanceof CtError) {
      observing?.notAdmitted(session.peer.holder, fare, session.vitals.way)
      session.end(fare)
      return
    }
    const { registry, methods, limits } = fare
    const link = serveMcp(session, {
      registry,
      methods,
      upstream: fare.isGuest ? undefined : this.#deps.upstream,
      ledger: this.#ledger,
      log,
      serverInfo: { name: 'ct-agent', version: VERSION },
      randomId: randomUUID,
      observer: observing?.opened(session),
      ...limits,
    })
    this.#links.set(link, session)
    log.info('session.opened', { peer: shortId(session.peer.holder) })
    const forget = fare.isGuest ? this.#boundStay(session) : () => {}
    void session.closed.then(({ reason }) => {
      forget()
      this.#links.delete(link)
      logEnd(log, session, reason)
    })
  }

  /** @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` before anything is done to the session that could not be judged */
  review(): void {
    const { reception } = this.#deps
    if (reception === undefined) return
    for (const [link, session] of [...this.#links]) {
      const { membership } = session.peer
      if (membership === undefined) continue
      const standing = reception.standingNow(membership)
      if (standing instanceof CtError) expel(link, session, standing)
      else link.limitTo(limitsOf(standing, membership.rights))
    }
    this.#ledger.expel((peer) => (this.#chains.get(peer) ?? [peer]).some((holder) => reception.isRemovedNow(holder)))
  }

  async drain(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#links].map(async ([link, session]) => {
        await link.drain(signal)
        await session.flushed(signal)
      }),
    )
  }

  close(): void {
    for (const link of this.#links.keys()) link.close()
  }

  #fareOf(session: Session): Fare | CtError {
    const { registry, methods, reception } = this.#deps
    const { membership } = session.peer
    if (reception === undefined || membership === undefined) {
      return { registry, methods, limits: { rights: membership?.rights }, isGuest: false }
    }
    const standing = reception.standingOf(membership)
    if (standing instanceof CtError) return standing
    this.#noteChain(session.peer.holder, membership.chain)
    const welcome = reception.welcome(standing, membership.rights, (reason) => session.end(reason))
    const { limits, servesTools } = welcome
    if (!servesTools) return { registry: NO_TOOLS, methods: welcome.methods, limits, isGuest: true }
    return { registry, methods: new Map([...methods, ...welcome.methods]), limits, isGuest: false }
  }

  #noteChain(holder: HolderId, chain: readonly HolderId[]): void {
    this.#chains.delete(holder)
    this.#chains.set(holder, chain)
    const [oldest] = this.#chains.size > MAX_KNOWN_CHAINS ? this.#chains.keys() : []
    if (oldest !== undefined) this.#chains.delete(oldest)
  }

  #boundStay(session: Session): () => void {
    return this.#deps.clock.after(GUEST_STAY_MS, () => {
      session.end(new CtError('ERR_TIMEOUT', `no invitation was redeemed within ${GUEST_STAY_MS / 1_000} s`))
    })
  }
}

/** Calls that are in progress first, so that their callers learn that they were stopped. */
function expel(link: ServedLink, session: Session, reason: CtError): void {
  link.close(reason)
  session.end(reason)
}

function logEnd(log: Log, session: Session, reason: CtError): void {
  log.info('session.ended', { peer: shortId(session.peer.holder), code: reason.code, reason: reason.message })
}
