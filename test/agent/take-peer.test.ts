import { describe, expect, it } from 'vitest'
import { takePeer } from '../../src/agent/calling/ticket-source.ts'
import { type Context } from '../../src/agent/command.ts'
import { fileWith } from './artefact-files.ts'
import { fakeIo } from './fake-io.ts'
import { ticketPeer } from './peers/peers.ts'

const { ticket } = ticketPeer()
const ARGS = '{"input":"x"}'

function take(needed: 0 | 1, operands: readonly string[], variable?: string, input = '') {
  const { io } = fakeIo({ input })
  const env = variable === undefined ? {} : { CT_TICKET: variable }
  return takePeer({ env, io, operands } as unknown as Context, needed)
}

/** A peer for `tools`, one for `call`; `V` stands for what the variable says. */
const CASES: readonly (readonly [needed: 0 | 1, operands: readonly string[], variable: boolean, peer: string])[] = [
  [0, ['bob'], false, 'bob'],
  [0, ['bob'], true, 'bob'],
  [0, [ticket], true, ticket],
  [0, [], true, 'V'],
  [1, ['bob', 'ping'], false, 'bob'],
  [1, ['bob', 'service/x', ARGS], false, 'bob'],
  [1, ['bob', 'service/x', ARGS], true, 'bob'],
  [1, ['bob', 'service/x', '-'], true, 'bob'],
  [1, ['no/name', 'service/x', ARGS], true, 'no/name'],
  [1, ['bob', 'service/x'], true, 'bob'],
  [1, ['bob', 'ping'], true, 'bob'],
  [1, [ticket, 'ping'], true, ticket],
  [1, ['ping'], true, 'V'],
  [1, ['ping', ARGS], true, 'V'],
  [1, ['ping', ` ${ARGS}`], true, 'V'],
  [1, ['ping', '-'], true, 'V'],
  [1, ['ping', '[1]'], true, 'V'],
  [1, ['service/x', 'y'], true, 'V'],
]

describe('takePeer', () => {
  for (const [needed, operands, hasVariable, peer] of CASES) {
    const line = operands.map((operand) => (operand === ticket ? 'ct1…' : operand)).join(' ')
    it(`takes ${peer === 'V' ? 'the variable' : 'the operand'} of ${needed === 0 ? 'tools' : 'call'} ${line}${hasVariable ? ', with the variable' : ''}`, async () => {
      const taken = await take(needed, operands, hasVariable ? 'V' : undefined)
      expect(taken).toEqual({ peer, fromStdin: false, rest: peer === 'V' ? operands : operands.slice(1) })
    })
  }

  for (const [needed, operands, variable] of [
    [0, [], undefined],
    [1, ['ping'], undefined],
    [1, ['ping'], ' '],
    [1, [ticket], 'V'],
    [1, ['@file'], 'V'],
  ] as const) {
    it(`asks for what is missing from ${JSON.stringify(operands).slice(0, 20)}`, async () => {
      await expect(take(needed, operands, variable)).rejects.toMatchObject({ code: 'ERR_USAGE' })
    })
  }

  const wrapped = (ticket.match(/.{1,20}/g) ?? []).join('\r\n   ')
  const pasted: readonly (readonly [string, string, string])[] = [
    ['one line', `${ticket}\n`, ticket],
    ['one line, and others after it', `${ticket}\nmore`, ticket],
    ['several lines', `${wrapped}\n`, ticket],
    ['several lines, and others after them', `${wrapped}\nmore\n`, ticket],
    ['upper case', ticket.toUpperCase(), ticket],
    ['a name', 'bob\nmore\n', 'bob'],
  ]
  for (const [name, content, expected] of pasted) {
    it(`reads ${name} from a file and from stdin`, async () => {
      for (const { peer } of [await take(0, [`@${fileWith(content)}`]), await take(0, ['-'], undefined, content)]) {
        expect(peer.replace(/\s+/g, '').toLowerCase()).toBe(expected)
      }
    })
  }

  it('reads a bounded number of lines of what begins like a ticket', async () => {
    const { peer } = await take(0, ['-'], undefined, `ct1a\n${'a\n'.repeat(1_000)}`)
    expect(peer.length).toBeLessThan(300)
  })
})
