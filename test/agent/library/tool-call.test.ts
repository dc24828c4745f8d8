import { describe, expect, it } from 'vitest'
import { type Progress } from '../../../src/agent/library/api.ts'
import { readToolResult, toolCall } from '../../../src/agent/library/tool-call.ts'
import { MAX_WAITING } from '../../../src/agent/library/updates.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type JsonValue } from '../../../src/core/json.ts'

const RESULT = { content: [{ type: 'text', text: 'done' }], structuredContent: { n: 1 } }

/** A call whose peer speaks when it is told to. */
function heldCall() {
  const answer = Promise.withResolvers<JsonValue>()
  let say: (progress: Progress) => void = () => {}
  const call = toolCall((onProgress) => {
    say = onProgress
    return answer.promise
  })
  return { call, say: (progress: number) => say({ progress }), ...answer }
}

async function taken(call: AsyncIterable<Progress>): Promise<readonly number[]> {
  const found: number[] = []
  for await (const { progress } of call) found.push(progress)
  return found
}

describe('a call', () => {
  it('has a result for whoever awaits it, and updates for whoever iterates', async () => {
    const { call, say, resolve } = heldCall()
    say(1)
    const seen = taken(call)
    say(2)
    resolve(RESULT)
    expect(await seen).toEqual([1, 2])
    expect(await call).toEqual({ ...RESULT, isError: false })
  })

  it('keeps the newest updates for whoever comes late, and no more than so many', async () => {
    const { call, say, resolve } = heldCall()
    for (let progress = 1; progress <= MAX_WAITING + 5; progress += 1) say(progress)
    resolve(RESULT)
    await call
    const seen = await taken(call)
    expect([seen[0], seen.at(-1), seen.length]).toEqual([6, MAX_WAITING + 5, MAX_WAITING])
  })

  it('throws what kept its result from coming, to either', async () => {
    const { call, say, reject } = heldCall()
    say(1)
    const seen = taken(call)
    const lost = new CtError('ERR_LINK_LOST', 'gone')
    reject(lost)
    await expect(seen).rejects.toBe(lost)
    await expect(call).rejects.toBe(lost)
  })

  for (const [name, value] of Object.entries({
    'no object': 'text',
    'content that is no list': { content: {} },
    'a block without a type': { content: [{ text: 'x' }] },
    'a block that is none': { content: [null] },
  })) {
    it(`takes no result with ${name}`, () => {
      expect(() => readToolResult(value)).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL' }))
    })
  }
})
