/**
 * A fixed number of places and a bounded queue for them, shared fairly between peers.
 *
 * Holds: peers take turns, and each peer's calls start in their order. When the queue is full, a peer with less than
 * its share gets in at the expense of the peer that has most waiting, whose newest call is turned away unstarted. A
 * lone peer may use the whole queue. A call that is refused or cancelled while it waits never starts.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { cancellation } from './cancellation.ts'

export interface PoolLimits {
  /** Tasks at the same time. */
  readonly running: number
  /** Tasks that wait, over all peers. */
  readonly waiting: number
}

interface Waiter {
  readonly admit: () => void
  readonly refuse: (reason: CtError) => void
}

export class FairPool {
  readonly #limits: PoolLimits
  /** Insertion order is the order of turns; no queue in it is empty. */
  readonly #queues = new Map<string, Waiter[]>()
  readonly #idle = new Set<() => void>()
  #running = 0
  #waiting = 0
  #closed: CtError | undefined

  constructor(limits: PoolLimits) {
    this.#limits = limits
  }

  /**
   * Runs the task when its turn has come. The signal ends only the waiting; a started task watches it itself.
   *
   * @throws {CtError} `ERR_PEER_BUSY`, the cancellation of the signal, or the reason the pool was closed with
   */
  async run<Value>(peer: string, signal: AbortSignal, task: () => Promise<Value>): Promise<Value> {
    this.#refuseWhenOver(signal)
    if (this.#running < this.#limits.running) {
      this.#running += 1
    } else {
      if (this.#waiting >= this.#limits.waiting && !this.#makeRoom(peer)) throw this.#busy()
      await this.#turn(peer, signal)
    }
    try {
      // Between being handed a place and this line the pool may have closed, or the call been cancelled.
      this.#refuseWhenOver(signal)
      return await task()
    } finally {
      this.#release()
    }
  }

  /** Refuses all that wait and all that come later; what runs goes on. */
  close(reason: CtError): void {
    this.#closed ??= reason
    for (const queue of [...this.#queues.values()]) {
      for (const waiter of [...queue]) waiter.refuse(this.#closed)
    }
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle.add(resolve)
    })
  }

  #refuseWhenOver(signal: AbortSignal): void {
    if (this.#closed !== undefined) throw this.#closed
    if (signal.aborted) throw cancellation(signal)
  }

  #turn(peer: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', cancel)
        this.#remove(peer, waiter)
      }
      const waiter: Waiter = {
        admit: () => {
          leave()
          resolve()
        },
        refuse: (reason) => {
          leave()
          reject(reason)
        },
      }
      const cancel = (): void => waiter.refuse(cancellation(signal))
      signal.addEventListener('abort', cancel, { once: true })
      const queue = this.#queues.get(peer)
      if (queue === undefined) this.#queues.set(peer, [waiter])
      else queue.push(waiter)
      this.#waiting += 1
    })
  }

  /** Passes the place on, so a newcomer cannot take it before those who wait. */
  #release(): void {
    const turn = this.#queues.entries().next()
    if (turn.done !== true) {
      const [peer, queue] = turn.value
      queue[0]?.admit()
      if (this.#queues.delete(peer) && queue.length > 0) this.#queues.set(peer, queue)
      return
    }
    this.#running -= 1
    if (this.#running > 0) return
    for (const resolve of this.#idle) resolve()
    this.#idle.clear()
  }

  #remove(peer: string, waiter: Waiter): void {
    const queue = this.#queues.get(peer)
    const index = queue?.indexOf(waiter) ?? -1
    if (queue === undefined || index < 0) return
    queue.splice(index, 1)
    this.#waiting -= 1
    if (queue.length === 0) this.#queues.delete(peer)
  }

  #makeRoom(peer: string): boolean {
    let longest: Waiter[] = []
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue
    const own = this.#queues.get(peer)?.length ?? 0
    if (longest.length <= own + 1) return false
    longest.at(-1)?.refuse(this.#busy())
    return true
  }

  #busy(): CtError {
    const { running, waiting } = this.#limits
    return new CtError(
      'ERR_PEER_BUSY',
      `all ${running} service handlers are busy and the queue of ${waiting} is full`,
      { detail: { running, waiting } },
    )
  }
}
