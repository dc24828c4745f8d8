import { describe, expect, it } from 'vitest'
import { LEASE_IDLE_MS, LeasedServices, type Lessee, MAX_LEASED } from '../../../src/agent/gateway/leased-services.ts'
import { type Port } from '../../../src/mcp/index.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { settle } from '../../mcp/port-pair.ts'

const ANN: Lessee = { identity: 'ann', abilities: { elicitation: {} } }

class FakeService {
  readonly served: Port[] = []
  waitsUnder: string | undefined
  isClosed = false

  get isWaiting(): boolean {
    return this.waitsUnder !== undefined
  }

  waitsFor(state: string): boolean {
    return state === this.waitsUnder
  }

  serve(port: Port) {
    this.served.push(port)
    return { isInitialized: false, inFlight: 0, drain: () => Promise.resolve(), limitTo: () => {}, close: () => {} }
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }
}

class Scene {
  readonly clock = new FakeClock()
  readonly made: FakeService[] = []
  readonly ended: FakeService[] = []
  readonly leased = new LeasedServices<FakeService>({
    clock: this.clock,
    create: () => {
      const service = new FakeService()
      this.made.push(service)
      return service
    },
    onEnd: (service) => this.ended.push(service),
  })

  /** A call; its end. Undefined where there is no place. */
  begin(lessee = ANN): (() => Promise<void>) | undefined {
    const { port, end } = link()
    return this.leased.begin(port, lessee) === undefined ? undefined : end
  }

  /** All calls wait for their hosts. */
  suspend(state: string): void {
    for (const service of this.made) service.waitsUnder = state
  }

  resume(state: string, identity = ANN.identity): (() => Promise<void>) | undefined {
    const { port, end } = link()
    return this.leased.resume(port, identity, state) === undefined ? undefined : end
  }
}

function link() {
  const closed = Promise.withResolvers<void>()
  const end = async (): Promise<void> => {
    closed.resolve()
    await settle()
  }
  return { port: { closed: closed.promise } as unknown as Port, end }
}

describe('calls of hosts without sessions', () => {
  it('have a set of connections each, of which there are few', () => {
    const scene = new Scene()
    for (let index = 0; index < MAX_LEASED; index += 1) expect(scene.begin()).toBeDefined()
    expect(scene.made).toHaveLength(MAX_LEASED)
    expect(scene.begin()).toBeUndefined()
  })

  for (const { name, lessee, sets } of [
    { name: 'take over that of a call of the same host', lessee: ANN, sets: 1 },
    { name: 'have another than the calls of other hosts', lessee: { ...ANN, identity: 'eve' }, sets: 2 },
    {
      name: 'have another than calls that may be asked otherwise',
      lessee: { ...ANN, abilities: { roots: {} } },
      sets: 2,
    },
  ]) {
    it(`${name} when it has ended`, async () => {
      const scene = new Scene()
      await scene.begin()?.()
      scene.begin(lessee)
      expect(scene.made).toHaveLength(sets)
    })
  }

  it('never take over that of a call that waits for its host', async () => {
    const scene = new Scene()
    const end = scene.begin()
    scene.suspend('state')
    await end?.()
    scene.begin()
    expect(scene.made).toHaveLength(2)
    scene.clock.advance(10 * LEASE_IDLE_MS)
    expect(scene.ended).toEqual([])
  })

  it('go on where they wait, for the host that began them alone', async () => {
    const scene = new Scene()
    const end = scene.begin()
    scene.suspend('state')
    await end?.()
    expect(scene.resume('state', 'eve')).toBeUndefined()
    expect(scene.resume('other')).toBeUndefined()
    expect(scene.resume('state')).toBeDefined()
    expect(scene.made[0]?.served).toHaveLength(2)
  })

  it('push an unused set of another host out when there are no more', async () => {
    const scene = new Scene()
    await scene.begin({ ...ANN, identity: 'eve' })?.()
    for (let index = 0; index < MAX_LEASED; index += 1) expect(scene.begin()).toBeDefined()
    expect(scene.ended).toEqual([scene.made[0]])
    expect(scene.made[0]?.isClosed).toBe(true)
  })

  it('leave no set that nobody uses for long', async () => {
    const scene = new Scene()
    await scene.begin()?.()
    scene.clock.advance(LEASE_IDLE_MS - 1)
    expect(scene.ended).toEqual([])
    scene.clock.advance(1)
    expect(scene.ended).toEqual(scene.made)
    expect(scene.clock.timers).toBe(0)
  })
})
