import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { u64 } from '../../src/core/u64.ts'
import { Shop } from './shop.ts'
import { stranger } from './signed.ts'

describe('the limit of receipts', () => {
  it('refuses a text that is too long before it reads it', async () => {
    const shop = await Shop.open()
    const message = 'params: expected at most 16384 characters, found 16385'
    expect(() => shop.send(`{${' '.repeat(16_384)}`)).toThrow(
      expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID', message }),
    )
  })

  const vain: Readonly<Record<string, (shop: Shop) => unknown>> = {
    'a signature that is wrong': (shop) => shop.ask(shop.draft({}, 1, stranger)),
    'no receipt': (shop) => expect(() => shop.send('{}')).toThrow(),
    'no JSON': (shop) => expect(() => shop.send('{')).toThrow(),
    'a call that was not served': (shop) => shop.ask(shop.draft({}, 9)),
    'a receipt that it has': (shop) => shop.ask(shop.draft()),
  }
  for (const [name, ask] of Object.entries(vain)) {
    it(`hears a peer that comes with ${name} only so often in a minute`, async () => {
      const shop = await Shop.open()
      shop.serve(1).serve(2)
      expect(shop.ask(shop.draft())).toHaveProperty('body')
      for (let tries = 0; tries < 59; tries += 1) ask(shop)
      expect(shop.ask(shop.draft({}, 8))).toBe('unknown_call')
      expect(shop.ask(shop.draft({}, 2))).toBe('rate_limited')
      expect(shop.ask(shop.draft({}, 2), stranger.id)).toBe('not_consumer')
      shop.selling.now += 60
      expect(shop.ask(shop.draft({}, 2))).toHaveProperty('body')
    })
  }

  it('signs without a limit what is in order', async () => {
    const shop = await Shop.open()
    for (let call = 1; call <= 100; call += 1) {
      expect(shop.serve(call).ask(shop.draft({ unitsConsumed: u64(1) }, call))).toHaveProperty('body')
    }
  })

  it('refuses without waiting for another process that writes', async () => {
    const shop = await Shop.open()
    shop.serve()
    const other = new DatabaseSync(shop.selling.path)
    onTestFinished(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    expect(shop.ask(shop.draft({}, 2))).toBe('unknown_call')
    expect(() => shop.ask(shop.draft())).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
    other.exec('ROLLBACK')
    expect(shop.ask(shop.draft())).toHaveProperty('body')
  })
})
