/**
 * Calls to one peer, over as many links as they take.
 *
 * Holds: a call that was sent runs at most once; it is finished on the next link, or ends in a code that says that it
 * may have run. Whoever waits is told when the link is gone, why there is no new one, and when there is.
 *
 * @module
 */
import { type SelfDescription, type Session } from '../../channel/index.ts'
import { type CtError, toCtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { Backoff, type BackoffPolicy } from '../../core/time.ts'
import { type Answer, createMcpClient, createResumableCaller, type Params } from '../../mcp/index.ts'
import { type Context } from '../command.ts'
import { LinkNotices } from './link-notices.ts'
import { done, type LinkSource } from './link-source.ts'

export interface CallerOptions {
  readonly self: SelfDescription
  /** Makes the source of sessions for this self. */
  readonly connect: (self: SelfDescription) => Promise<LinkSource>
  /** A lost link is opened again. */
  readonly reconnect: boolean
  /** Bounds a call, links and all. */
  readonly timeoutMs: number
  /** Begins every line for people. */
  readonly label: string
}

export interface Caller {
  /** Resolves with the peer's answer, be it a result or an error; rejects with what kept it from coming. */
  readonly call: (method: string, params?: Params) => Promise<Answer>
  /** Resolves with the reason when no more calls can be made. */
  readonly stopped: Promise<CtError>
  /** No more calls can be made. */
  readonly isStopped: () => boolean
  /** Ends the link with a goodbye, and every call that has no answer. */
  readonly close: () => void
  /** Closes; resolves when the goodbye has left, or cannot leave any more. */
  readonly finish: () => Promise<void>
}

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

/** The sessions of one caller, one after the other. */
class Links {
  readonly #source: LinkSource
  readonly notices: LinkNotices | undefined
  #current: Session | undefined
  #closing = false

  /** Some call was sent: a peer that does not know it must not take it for new. */
  hasSent = (): boolean => false

  static async create({ io }: CallerContext, { self, connect, reconnect, label }: CallerOptions): Promise<Links> {
    const calls = (): 'fresh' | 'resumed' => (links.hasSent() ? 'resumed' : 'fresh')
    const source = await connect(reconnect ? { ...self, calls } : self)
    const links = new Links(source, reconnect ? new LinkNotices(io, label) : undefined)
    return links
  }

  constructor(source: LinkSource, notices: LinkNotices | undefined) {
    this.#source = source
    this.notices = notices
  }

  /** A session to a peer that has admitted us: only then may calls count as sent. */
  async open(signal: AbortSignal): Promise<Session> {
    const session = await this.#source.open(signal)
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
    this.notices?.connected()
    void session.closed.then(({ reason }) => {
      if (!this.#closing) this.notices?.lost(reason)
    })
    return session
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
  { self, timeoutMs }: CallerOptions,
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
        if (!signal.aborted) links.notices?.failed(toCtError(error))
        throw error
      }
    },
    instance: self.run,
    backoff: new Backoff(RECONNECT, random),
    clock,
    log,
  })
  links.hasSent = () => caller.hasSent
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
    call: (method, params) => caller.call(method, params, { timeoutMs }),
    stopped,
    isStopped: () => isStopped,
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
    call: (method, params) => client.request(method, params, { timeoutMs }),
    stopped,
    isStopped: () => isStopped,
    close: () => links.close(),
    finish: () => links.finish(),
  }
}
