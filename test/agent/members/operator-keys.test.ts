import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changeOperator, loadOperator, standingKeys, watchOperator } from '../../../src/agent/members/operator-keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { CHANNEL, DAY, NOW, stateDir } from './rosters.ts'

const KEY = 'operator.key'
const NEXT = 'operator.next.key'
const SUCCESSIONS = 'operator.successions'
const CHANGE = { channel: CHANNEL, now: NOW, overlapSeconds: DAY }

/** A state folder before and after a change of the key. */
function changed() {
  const [before, after] = [stateDir(), stateDir()]
  const old = loadOperator(before)
  cpSync(before, after, { recursive: true })
  const { succession } = changeOperator(after, CHANGE)
  return { before, after, old, succession, key: readFileSync(join(after, KEY)) }
}

describe('the key of an operator', () => {
  it('gives way to another one that both signed for, by the name of the first', () => {
    const { after, old, succession } = changed()
    const { signer, first, successions } = loadOperator(after)
    expect(signer.id).not.toBe(old.signer.id)
    expect([first, successions]).toEqual([old.signer.id, [succession]])
    expect(succession.body).toMatchObject({ from: old.signer.id, to: signer.id, overlapUntil: NOW + DAY })
    expect(standingKeys(loadOperator(after), CHANNEL, NOW)).toEqual([signer.id, old.signer.id])
    expect(standingKeys(loadOperator(after), CHANNEL, u64(NOW + DAY))).toEqual([signer.id])
  })

  it('is kept nowhere once another one has taken over from it', () => {
    const { before, after } = changed()
    expect([existsSync(join(after, NEXT)), existsSync(join(after, SUCCESSIONS))]).toEqual([false, true])
    expect(readFileSync(join(after, KEY)).equals(readFileSync(join(before, KEY)))).toBe(false)
  })

  it('changes again, and no more than four times', () => {
    const folder = stateDir()
    const first = loadOperator(folder).signer.id
    for (let times = 0; times < 4; times += 1) changeOperator(folder, CHANGE)
    const operator = loadOperator(folder)
    expect([operator.first, operator.successions.length]).toEqual([first, 4])
    expect(standingKeys(operator, CHANNEL, NOW)).toHaveLength(5)
    expect(() => changeOperator(folder, CHANGE)).toThrow(/at most 4 changes/)
    expect(loadOperator(folder)).toEqual(operator)
  })

  it('is not made for a change: there is nothing to change from', () => {
    const folder = stateDir()
    expect(() => changeOperator(folder, CHANGE)).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
    expect(existsSync(join(folder, KEY))).toBe(false)
  })

  it('is read anew when that is asked for', () => {
    const folder = stateDir()
    const keys = watchOperator(folder)
    const { signer } = keys.current()
    const { succession } = changeOperator(folder, CHANGE)
    expect(keys.current().signer.id).toBe(signer.id)
    keys.reload()
    expect(keys.current().signer.id).toBe(succession.body.to)
  })
})

describe('a change of the key that is cut off', () => {
  /** The files of after the change that were written, in the order in which they are. */
  const points = [
    { name: 'after the new key was written', written: [NEXT], isNew: false },
    { name: 'after the succession was written', written: [NEXT, SUCCESSIONS], isNew: true },
    { name: 'after the new key took the place of the old one', written: [NEXT, SUCCESSIONS, KEY], isNew: true },
  ]
  for (const { name, written, isNew } of points) {
    it(`leaves keys that belong together ${name}, and is finished by the next`, () => {
      const { before, after, old, succession, key } = changed()
      const file = (name: string) => (name === NEXT ? join(after, KEY) : join(after, name))
      for (const name of written) cpSync(file(name), join(before, name))
      expect(readFileSync(join(before, NEXT)).equals(key)).toBe(true)
      const { signer, first, successions } = loadOperator(before)
      expect(signer.id).toBe(isNew ? succession.body.to : old.signer.id)
      expect([first, successions]).toEqual([old.signer.id, isNew ? [succession] : []])
      const next = changeOperator(before, CHANGE)
      expect(next.wasBegun).toBe(isNew && !written.includes(KEY))
      if (next.wasBegun) expect(next.succession).toEqual(succession)
      expect(loadOperator(before).signer.id).toBe(next.succession.body.to)
      expect(existsSync(join(before, NEXT))).toBe(false)
    })
  }

  it('changes nothing when the succession cannot be written', () => {
    const folder = stateDir()
    const { signer } = loadOperator(folder)
    const blocked = join(folder, SUCCESSIONS)
    mkdirSync(blocked)
    expect(() => changeOperator(folder, CHANGE)).toThrow(expect.objectContaining({ code: 'ERR_STATE_UNAVAILABLE' }))
    rmSync(blocked, { recursive: true })
    expect(loadOperator(folder)).toMatchObject({ first: signer.id, successions: [] })
    expect(loadOperator(folder).signer.id).toBe(signer.id)
  })

  it('is not taken for another channel’s: successions that lead elsewhere are refused', () => {
    const { before } = changed()
    const other = changed()
    cpSync(join(other.after, SUCCESSIONS), join(before, SUCCESSIONS))
    expect(() => loadOperator(before)).toThrow(expect.objectContaining({ code: 'ERR_STATE_UNAVAILABLE' }))
  })
})
