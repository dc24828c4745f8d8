import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aliasTools, MAX_ALIAS_CHARS } from '../../../src/mcp/adapter/alias.ts'

const HOST_RULE = /^[A-Za-z][A-Za-z0-9_]{0,39}$/
const LONG = `service/${'summarise_'.repeat(20)}`

function aliasesOf(names: readonly string[], prefix = ''): Record<string, string> {
  return Object.fromEntries([...aliasTools([{ prefix, names }])].map(([alias, { name }]) => [name, alias]))
}

describe('aliases of tools', () => {
  for (const [name, alias] of [
    ['ping', 'ping'],
    ['agent/card', 'agent_card'],
    ['auction/bid', 'auction_bid'],
    ['service/text_generation', 'service_text_generation'],
    ['read.file', 'read_file'],
    ['a__b', 'a_b'],
    ['_hidden_', 'hidden'],
    ['3d-model', 't_3d_model'],
    ['préfixe', 'pr_fixe'],
    ['🚀', 'tool'],
    [LONG, LONG.replace('/', '_').slice(0, MAX_ALIAS_CHARS).replace(/_$/, '')],
  ] as const) {
    it(`shows ${JSON.stringify(name.slice(0, 30))} as ${alias.slice(0, 30)}`, () => {
      expect(aliasesOf([name])).toEqual({ [name]: alias })
    })
  }

  it('leave a name alone that is safe, and tell the others from it by a hash of their names', () => {
    const { 'a/b': slash, a_b: safe, 'a.b': dot } = aliasesOf(['a/b', 'a_b', 'a.b'])
    expect(safe).toBe('a_b')
    expect(slash).toMatch(/^a_b_[0-9a-f]{6}$/)
    expect(dot).toMatch(/^a_b_[0-9a-f]{6}$/)
    expect(slash).not.toBe(dot)
  })

  it('begin with the name of the peer where there are several', () => {
    expect(aliasesOf(['ping'], 'bob')).toEqual({ ping: 'bob_ping' })
  })

  it('are not changed by a peer that is named later', () => {
    const first = { prefix: 'a', names: ['b_c', 'd/e'] }
    const alone = [...aliasTools([first])]
    const both = [...aliasTools([first, { prefix: 'a_b', names: ['c', 'd/e'] }])]
    expect(both.slice(0, alone.length)).toEqual(alone)
    expect(both.find(([, { peer, name }]) => peer === 1 && name === 'c')?.[0]).toMatch(/^a_b_c_[0-9a-f]{6}$/)
  })

  it('differ, fit every host, and do not depend on the order of the list', () => {
    const names = fc.uniqueArray(fc.oneof(fc.string(), fc.stringMatching(/^[ab_/.]{1,4}$/), fc.constant(LONG)), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(names, fc.constantFrom('', 'bob', 'a'), (list, prefix) => {
        const aliases = aliasesOf(list, prefix)
        const shown = list.map((name) => aliases[name] ?? '')
        expect(new Set(shown).size).toBe(list.length)
        for (const alias of shown) {
          expect(alias).toMatch(HOST_RULE)
          expect(alias).not.toContain('__')
        }
        expect(aliasesOf([...list].reverse(), prefix)).toEqual(aliases)
      }),
    )
  })
})
