import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostedTools, peersFor, type ToolSource } from '../../../src/agent/hosting/hosted-tools.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { readRemoteTools } from '../../../src/mcp/adapter/index.ts'
import { type ToolRegistry } from '../../../src/mcp/index.ts'

/** A peer that answers with its own label and the real name of the tool; without names it has listed none yet. */
function peer(label: string, names?: readonly string[]): ToolSource {
  const list = (names ?? []).map((name) => ({ name, inputSchema: { type: 'object' } }))
  return {
    label,
    tools: readRemoteTools(list).tools,
    isListed: names !== undefined,
    absence: names === undefined ? new CtError('ERR_PEER_UNREACHABLE', `${label} is not there`) : undefined,
    call: (name) => Promise.resolve(`${label}: ${name}`),
  }
}

/** Who was called under which name, or the code of what came instead. */
async function reach(registry: ToolRegistry, name: string): Promise<unknown> {
  const context = {
    peer: '00' as HolderId,
    callId: 'x',
    signal: new AbortController().signal,
    argumentsText: '{}',
    progress: () => {},
  }
  try {
    return await registry.find(name)?.call({}, context)
  } catch (error) {
    return error instanceof CtError ? error.code : error
  }
}

const ALL = ['ping', 'b_transfer']

describe('a name that a host calls', () => {
  for (const [what, peers, name, reached] of [
    ['an alias', [peer('a', ALL), peer('b', ALL)], 'b_ping', 'b: ping'],
    ['an alias of a peer whose name begins like another', [peer('a', ALL), peer('a-b', ALL)], 'aB_ping', 'a-b: ping'],
    ['the real name with one peer', [peer('a', ['x/y'])], 'x/y', 'a: x/y'],
    ['a real name that one peer has', [peer('a', ALL), peer('b', ['x/y'])], 'x/y', 'b: x/y'],
    ['a real name that several have', [peer('a', ALL), peer('b', ALL)], 'ping', 'ERR_TOOL_UNKNOWN'],
    ['a real name while a peer is not known', [peer('a', ['x/y']), peer('b')], 'x/y', 'ERR_PEER_UNREACHABLE'],
    ['a name that begins like a peer’s', [peer('a', ALL), peer('b', ['ping'])], 'b_transfer', undefined],
    ['that of a peer that is not known', [peer('a', ALL), peer('b')], 'b_transfer', 'ERR_PEER_UNREACHABLE'],
    ['an alias while another is not known', [peer('a', ALL), peer('b')], 'a_ping', 'a: ping'],
    ['nobody’s', [peer('a', ALL), peer('b', ALL)], 'nope', undefined],
    ['nobody’s yet', [peer('a')], 'nope', 'ERR_PEER_UNREACHABLE'],
  ] as const) {
    it(`reaches ${reached ?? 'nobody'}: ${what}`, async () => {
      expect(await reach(hostedTools(peers), name)).toBe(reached)
    })
  }

  it('waits for its own peer alone, or for all where any may have it', () => {
    const peers = [peer('a'), peer('a-b'), peer('c')]
    const waits = (name: string) => peersFor(name, peers).map(({ label }) => label)
    expect(waits('aB_ping')).toEqual(['a-b'])
    expect(waits('a_b_ping')).toEqual(['a'])
    expect(waits('ping')).toEqual(['a', 'a-b', 'c'])
    expect(peersFor('x_y', [peer('a')])).toHaveLength(1)
  })

  it('reaches the peer it was shown for, whoever is added and whatever the others list', async () => {
    const label = fc.stringMatching(/^[ab3]([ab3._-]{0,3}[ab3])?$/)
    const names = fc.uniqueArray(fc.stringMatching(/^[abAB3_/]{1,6}$/), { maxLength: 6 })
    const source = fc.record({ label, names: fc.option(names, { nil: undefined }) })
    const some = fc.uniqueArray(source, { minLength: 2, maxLength: 5, selector: (entry) => entry.label })
    await fc.assert(
      fc.asyncProperty(some, fc.nat(), async (sources, seed) => {
        const peers = sources.map((entry) => peer(entry.label, entry.names))
        const whole = hostedTools(peers)
        // Any two of them were there before the others came.
        const first = seed % peers.length
        const fewer = hostedTools(peers.filter((_, at) => at === first || at === (first + 1) % peers.length))
        for (const { name } of fewer.list) expect(await reach(whole, name)).toBe(await reach(fewer, name))
        expect(whole.list).toHaveLength(peers.reduce((sum, { tools }) => sum + tools.length, 0))
        // Nor does anybody answer for a peer that lists nothing yet.
        const unknown = peers.map((entry, at) => (at === first ? peer(entry.label) : entry))
        const without = hostedTools(unknown)
        const own = whole.list.filter(({ name }) => peersFor(name, peers)[0] === peers[first])
        for (const { name } of own) expect(await reach(without, name)).toBe('ERR_PEER_UNREACHABLE')
      }),
      { numRuns: 300 },
    )
  })
})
