import { describe, expect } from 'vitest'
import { Members } from '../e2e/members.ts'
import { MIB, pushPattern, readPattern } from '../e2e/pattern.ts'
import { residentBytes } from '../e2e/resident.ts'
import { it } from '../e2e/stage.ts'

const BYTES = 1024 * MIB

describe('the raw pipe between two processes', () => {
  it('carries 1 GiB each way at once to the byte in bounded memory', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({}, undefined, { ownStdout: true })
    const dialler = members.call(address, {}, { ownStdout: true })
    let peak = 0
    const weigh = async (): Promise<void> => {
      for (const { pid } of [agent, dialler]) peak = Math.max(peak, await residentBytes(pid))
    }
    await Promise.all([
      pushPattern(agent.child.stdin, BYTES, 1),
      pushPattern(dialler.child.stdin, BYTES, 2),
      readPattern(agent.child.stdout, BYTES, 2, weigh),
      readPattern(dialler.child.stdout, BYTES, 1, weigh),
    ])
    expect([(await agent.exit).status, (await dialler.exit).status]).toEqual([0, 0])
    expect(peak).toBeLessThan(256 * MIB)
  })
})
