/**
 * Calls to one peer, over as many links as they take.
 *
 * Holds: a call that was sent runs at most once; it is finished on the next link, or ends in a code that says that it
 * may have run. Whoever waits is told when the link is gone, why there is no new one, and when there is.
 *
 * @module
 */
import { type Moves, type SelfDescription, type Session } from '../../channel/index.ts'
import { type CtError, toCtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { Backoff, type BackoffPolicy } from '../../core/time.ts'
import {
  type Answer,
  createMcpClient,
  createResumableCaller,
  type Params,
  type PeerHandlers,
  type RequestOptions,
} from '../../mcp/index.ts'
import { type Context } from '../command.ts'
import { LinkNotices } from './link-notices.ts'
import { done, type LinkSource, moved } from './link-source.ts'

export interface CallerOptions {
  readonly self: SelfDescription
  /** Makes the source of sessions for this self. */
  readonly connect: (self: SelfDescription) => Promise<LinkSource>
  /** A lost link is opened again. */
  readonly reconnect: boolean
  /** Such a refusal is no reason to stop: what this side shows has changed since. */
  readonly mayRetry?: (reason: CtError) => boolean
  /** Told why there is no link, at each attempt too, and with nothing when there is one again. */
  readonly onTrouble?: (reason: CtError | undefined) => void
  /** Who hears what the peer asks and tells. */
  readonly handlers?: PeerHandlers | undefined
  /** Bounds a call, links and all. */
  readonly timeoutMs: number
  /** Begins every line for people. */
  readonly label: string
}

export interface Caller {
  /** Resolves with the peer's answer, be it a result or an error; rejects with what kept it from coming. */
  readonly call: (method: string, params?: Params, options?: CallOptions) => Promise<Answer>
  /**
   * Says who this is, here and on each later link, in the way of the older revisions: the peer may then ask what the
   * parameters of `initialize` say that this side can do. Callers with one link cannot.
   */
  readonly introduce?: (params: JsonObject) => void
  /** Tells the peer something, if there is a link. */
  readonly notify?: (method: string, params: JsonObject) => void
  /** Resolves with the reason when no more calls can be made. */
  readonly stopped: Promise<CtError>
  /** No more calls can be made. */
  readonly isStopped: () => boolean
  /**
   * Goes on over a new link, on which this side shows what it has to show now; what is under way goes with it. Callers
   * with one link have none.
   */
  readonly renewLink?: () => Promise<void>
  /** Ends the link with a goodbye, and every call that has no answer. */
  readonly close: () => void
  /** Closes; resolves when the goodbye has left, or cannot leave any more. */
  readonly finish: () => Promise<void>
}

export type CallOptions = Pick<RequestOptions, 'signal' | 'shared' | 'onProgress'>

type CallerContext = Pick<Context, 'io' | 'clock' | 'random'> & { readonly log: Log }

/** First retry soon, later ones far enough apart for a peer that is down for long. */
const RECONNECT: BackoffPolicy = { baseMs: 200, capMs: 10_000, stableMs: 5_000 }

/**
 * A caller whose first link is up.
 *
 * @param signal ends the first attempt, whose failure is final
 */
export async function openCaller(context: CallerContext, options: CallerOptions, signal: AbortSignal): Promise<Caller> {
  const links = await Links.create(context, options)
  try {
    const first = await links.open(signal)
    return options.reconnect ? resuming(context, options, links, first) : onOneLink(context, options, links, first)
  } catch (error) {
    await links.finish()
    throw error
  }
}

/** A caller that connects by itself and waits for a peer that is not there yet. */
export async function waitingCaller(context: CallerContext, options: CallerOptions): Promise<Caller> {
  return resuming(context, options, await Links.create(context, options))
}

/** Whoever is there answers sooner; whoever is not is found by the end of the old link. */
const RENEW_LINK_TIMEOUT_MS = 15_000

/** The sessions of one caller, one after the other. */
class Links {
  readonly #source: LinkSource
  readonly #log: Log
  readonly #notices: LinkNotices | undefined
  readonly #onTrouble: NonNullable<CallerOptions['onTrouble']>
  /** Calls that outlive their link can move to a better one; others stay where they are. */
  readonly #moves: Moves | undefined
  #current: Session | undefined
  #closing = false

  /** Some call was sent: a peer that does not know it must not take it for new. */
  hasSent = (): boolean => false
  /** Goes on over another session to the same peer; false when that is of no use. */
  move = (_better: Session): boolean => false

  static async create({ io, log }: CallerContext, options: CallerOptions): Promise<Links> {
    const { self, connect, reconnect, label, onTrouble } = options
    const calls = (): 'fresh' | 'resumed' => (links.hasSent() ? 'resumed' : 'fresh')
    const source = await connect(reconnect ? { ...self, calls } : self)
    const links = new Links(source, log, reconnect ? new LinkNotices(io, label) : undefined, onTrouble)
    return links
  }

  private constructor(
    source: LinkSource,
    log: Log,
    notices: LinkNotices | undefined,
    onTrouble: CallerOptions['onTrouble'] = () => {},
  ) {
    this.#source = source
    this.#log = log
    this.#notices = notices
    this.#onTrouble = onTrouble
    this.#moves = this.#movesOf(notices !== undefined)
  }

  /** An attempt failed. */
  isDown(reason: CtError): void {
    this.#notices?.failed(reason)
    this.#onTrouble(reason)
  }

  /** A session to a peer that has admitted us: only then may calls count as sent. */
  async open(signal: AbortSignal): Promise<Session> {
    const session = await this.#source.open(signal, this.#moves)
    this.#current = session
    const leave = (): void => session.end(done())
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      await session.ready
    } catch (error) {
      throw signal.aborted ? toCtError(signal.reason, 'ERR_CALL_CANCELLED') : error
    } finally {
      signal.removeEventListener('abort', leave)
    }
    if (this.#closing) leave()
    this.#notices?.connected()
    this.#onTrouble(undefined)
    this.#watch(session)
    return session
  }

  async renew(): Promise<void> {
    const fresh = await this.#source.open(AbortSignal.timeout(RENEW_LINK_TIMEOUT_MS), this.#moves)
    await fresh.ready
    this.#goOnOver(fresh)
  }

  #watch(session: Session): void {
    this.#tellWay(session)
    void session.closed.then(({ reason }) => {
      if (!this.#closing && this.#current === session) this.#notices?.lost(reason)
    })
  }

  #goOnOver(better: Session): void {
    const last = this.#current
    if (this.#closing || !this.move(better)) {
      better.end(moved(), { final: false })
      return
    }
    this.#current = better
    this.#watch(better)
    last?.end(moved(), { final: false })
  }

  #movesOf(isMovable: boolean): Moves | undefined {
    if (!isMovable) return undefined
    return {
      onBetter: (better) => this.#goOnOver(better),
      onNotDirect: ({ reason, ms, nextMs }) => {
        this.#log.info('channel.not_direct', { code: reason.code, reason: reason.message, ms, nextMs })
      },
    }
  }

  #tellWay({ peer, vitals: { way } }: Session): void {
    if (way !== undefined)
      this.#log.info('channel.way', { peer: shortId(peer.holder), rung: way.kind, where: way.where })
  }

  close(): void {
    this.#closing = true
    this.#current?.end(done())
  }

  async finish(): Promise<void> {
    this.close()
    await this.#current?.closed
    await this.#current?.finished
    await this.#source.close(done())
  }
}

/** Calls that outlive their link. */
function resuming(
  { clock, random, log }: CallerContext,
  { self, timeoutMs, mayRetry, handlers }: CallerOptions,
  links: Links,
  first?: Session,
): Caller {
  let next = first
  let isStopped = false
  const caller = createResumableCaller({
    connect: async (signal) => {
      const ready = next
      next = undefined
      if (ready !== undefined) return ready
      try {
        return await links.open(signal)
      } catch (error) {
        if (!signal.aborted) links.isDown(toCtError(error))
        throw error
      }
    },
    instance: self.run,
    backoff: new Backoff(RECONNECT, random),
    ...(mayRetry === undefined ? {} : { mayRetry }),
    handlers,
    clock,
    log,
  })
  links.hasSent = () => caller.hasSent
  links.move = (better) => caller.move(better)
  const close = (): void => {
    links.close()
    caller.close()
  }
  const stopped = caller.stopped.then((reason) => {
    isStopped = true
    links.close()
    return reason
  })
  caller.start()
  return {
    call: (method, params, options) => caller.call(method, params, { timeoutMs, ...options }),
    introduce: (params) => caller.introduce(params),
    notify: (method, params) => caller.notify(method, params),
    stopped,
    isStopped: () => isStopped,
    renewLink: () => links.renew(),
    close,
    finish: async () => {
      close()
      await links.finish()
    },
  }
}

/** Calls on one link; its end is the end. */
function onOneLink(
  { clock, log }: CallerContext,
  { timeoutMs }: CallerOptions,
  links: Links,
  session: Session,
): Caller {
  const client = createMcpClient(session, { clock, log })
  let isStopped = false
  const stopped = session.closed.then(({ reason }) => {
    isStopped = true
    return reason
  })
  return {
    call: (method, params, options) => client.request(method, params, { timeoutMs, ...options }),
    stopped,
    isStopped: () => isStopped,
    close: () => links.close(),
    finish: () => links.finish(),
  }
}
