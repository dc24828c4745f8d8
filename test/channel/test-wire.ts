/**
 * A wire in memory, with back-pressure that a test controls.
 *
 * @module
 */
import { encodeFrame, FrameReader, type FrameType } from '../../src/channel/session/frame.ts'
import { type Wire, type WireListener } from '../../src/channel/session/wire.ts'

export interface Frame {
  readonly type: FrameType
  readonly payload: Uint8Array
}

export class TestWire implements Wire {
  other: TestWire | undefined
  /** Takes nothing more while this is set; see {@link drain}. */
  full = false
  /** Writes that throw, as on a stream that was reset. */
  broken = false
  /** One entry a write. */
  readonly writes: Uint8Array[] = []
  destroyedWith: Error | undefined
  #listener: WireListener | undefined
  #early: Uint8Array[] = []
  #open = true
  #held = false
  #drained = Promise.withResolvers<void>()

  write(parts: readonly Uint8Array[]): boolean {
    if (this.broken || !this.#open) throw new Error('the wire is gone')
    const bytes = Buffer.concat(parts)
    this.writes.push(bytes)
    const { other } = this
    queueMicrotask(() => other?.deliver(bytes))
    return !this.full
  }

  hold(held: boolean): void {
    this.#held = held
    if (!held) for (const bytes of this.#early.splice(0)) this.deliver(bytes)
  }

  /** Delivers nothing at the moment. */
  get isHeld(): boolean {
    return this.#held
  }

  drained(): Promise<void> {
    return this.#drained.promise
  }

  /** Takes bytes again. */
  drain(): void {
    this.full = false
    this.#drained.resolve()
    this.#drained = Promise.withResolvers()
  }

  finish(): Promise<void> {
    queueMicrotask(() => {
      this.end()
      this.other?.end()
    })
    return Promise.resolve()
  }

  destroy(reason: Error): void {
    this.destroyedWith ??= reason
    this.end(reason)
    queueMicrotask(() => this.other?.end())
  }

  listen(listener: WireListener): void {
    this.#listener = listener
    for (const bytes of this.#early.splice(0)) listener.onBytes(bytes)
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Hands over bytes as if the peer had written them. */
  deliver(bytes: Uint8Array): void {
    if (!this.#open) return
    if (this.#listener === undefined || this.#held) this.#early.push(bytes)
    else this.#listener.onBytes(bytes)
  }

  deliverFrame(type: FrameType, payload: Uint8Array): void {
    this.deliver(encodeFrame(type, payload))
  }

  end(error?: Error): void {
    if (!this.#open) return
    this.#open = false
    this.#drained.promise.catch(() => {})
    this.#drained.reject(error ?? new Error('the wire was closed'))
    this.#listener?.onEnd(error)
  }

  /** Everything written so far, as frames. */
  get frames(): readonly Frame[] {
    return framesOf(this.writes)
  }
}

export function framesOf(writes: readonly Uint8Array[]): readonly Frame[] {
  const frames: Frame[] = []
  const reader = new FrameReader((type, payload) => frames.push({ type, payload: Uint8Array.from(payload) }))
  for (const bytes of writes) reader.push(bytes)
  return frames
}

export function linkedWires(): [TestWire, TestWire] {
  const [left, right] = [new TestWire(), new TestWire()]
  left.other = right
  right.other = left
  return [left, right]
}

/** Everything that is due without a timer has happened. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
