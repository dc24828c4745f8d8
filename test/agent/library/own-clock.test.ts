import { describe, expect, it } from 'vitest'
import { ownClock } from '../../../src/agent/library/own-clock.ts'

describe('the clock of an object that is closed', () => {
  it('still fires what is due', async () => {
    const clock = ownClock()
    const fired: string[] = []
    const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    clock.after(1, () => {
      fired.push('before')
      before.resolve()
    })
    const cancel = clock.after(1, () => fired.push('cancelled'))
    clock.letGo()
    clock.after(1, () => {
      fired.push('after')
      after.resolve()
    })
    cancel()
    await Promise.all([before.promise, after.promise])
    expect(fired).toEqual(['before', 'after'])
  })

  it('keeps no process alive', () => {
    const clock = ownClock()
    const count = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = count()
    const cancels = [clock.after(60_000, () => {}), clock.after(60_000, () => {})]
    expect(count()).toBe(before + 2)
    clock.letGo()
    cancels.push(clock.after(60_000, () => {}))
    expect(count()).toBe(before)
    for (const cancel of cancels) cancel()
  })
})
