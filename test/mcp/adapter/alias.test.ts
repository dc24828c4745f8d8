import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aliasNames, aliasPrefix, MAX_ALIAS_CHARS, MAX_PREFIX_CHARS, prefixIn } from '../../../src/mcp/adapter/alias.ts'

const HOST_RULE = /^[A-Za-z][A-Za-z0-9_]{0,39}$/
const LONG = `service/${'summarise_'.repeat(20)}`

function aliasesOf(names: readonly string[], prefix = ''): Record<string, string> {
  return Object.fromEntries([...aliasNames(prefix, names)].map(([alias, name]) => [name, alias]))
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
    expect(aliasesOf(['ping', '3d', '🚀', 'x'.repeat(40)], 'bob')).toEqual({
      ping: 'bob_ping',
      '3d': 'bob_3d',
      '🚀': 'bob_tool',
      ['x'.repeat(40)]: `bob_${'x'.repeat(36)}`,
    })
  })

  it('differ, fit every host, and do not depend on the order of the list', () => {
    const names = fc.uniqueArray(fc.oneof(fc.string(), fc.stringMatching(/^[ab_/.]{1,4}$/), fc.constant(LONG)), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(names, fc.constantFrom('', 'bob', 'a', 'X'.repeat(MAX_PREFIX_CHARS)), (list, prefix) => {
        const aliases = aliasesOf(list, prefix)
        const shown = list.map((name) => aliases[name] ?? '')
        expect(new Set(shown).size).toBe(list.length)
        for (const alias of shown) {
          expect(alias).toMatch(HOST_RULE)
          expect(alias).not.toContain('__')
          if (prefix !== '') expect(prefixIn(alias)).toBe(prefix)
        }
        expect(aliasesOf([...list].reverse(), prefix)).toEqual(aliases)
      }),
    )
  })
})

describe('the prefix of a peer', () => {
  for (const [label, prefix] of [
    ['bob', 'bob'],
    ['home-server', 'homeServer'],
    ['a-b', 'aB'],
    ['peer-3b6a90', 'peerX3b6a90'],
    ['a.b_c', 'aYbZc'],
    ['a-x3', 'aXx3'],
    ['a--b', 'aXB'],
    ['3d', 'P3d'],
  ] as const) {
    it(`is ${prefix} for ${label}`, () => {
      expect(aliasPrefix(label)).toBe(prefix)
    })
  }

  it('is cut and told by a hash where it would be too long', () => {
    expect(aliasPrefix('a'.repeat(32))).toMatch(/^La{9}[0-9a-f]{10}$/)
    expect(aliasPrefix('a'.repeat(31))).not.toBe(aliasPrefix('a'.repeat(32)))
  })

  it('has no underscore and is no other label’s, so that no name of one peer begins like those of another', () => {
    const close = fc.stringMatching(/^[a3xz._-]{1,6}$/)
    const label = fc.oneof(close, fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,30}[a-z0-9])?$/), fc.string())
    fc.assert(
      fc.property(label, label, (one, other) => {
        const prefix = aliasPrefix(one)
        expect(prefix).toMatch(/^[A-Za-z][A-Za-z0-9]{0,19}$/)
        if (one !== other) expect(`${aliasPrefix(other)}_`.startsWith(`${prefix}_`)).toBe(false)
      }),
      { numRuns: 5_000 },
    )
  })
})
