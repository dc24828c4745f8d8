import { describe, expect, it } from 'vitest'
import { started } from './invoked.ts'

describe('an inbox', () => {
  it('gives each of many who pull at once work of their own, oldest first', async () => {
    const { invoke, pull } = await started()
    const made = []
    for (let index = 0; index < 30; index += 1) made.push((await invoke()).body.invocation_id)
    const pulled = await Promise.all(Array.from({ length: 10 }, () => pull('&limit=5')))
    const ids = pulled.flatMap(({ body }) => body.map(({ id }: { id: string }) => id))
    const rest = (await pull('&limit=100')).body.map(({ id }: { id: string }) => id)
    expect([...ids, ...rest].sort()).toEqual([...made].sort())
    for (const { body } of pulled) expect(body).toEqual([...body].sort((a, b) => (a.id < b.id ? -1 : 1)))
  })

  it('makes nobody wait for work that is there, however many pull', async () => {
    const { invoke, pull } = await started()
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 24; index += 1) await invoke()
      const pulled = await Promise.all(Array.from({ length: 6 }, () => pull('&limit=4&wait_seconds=25')))
      expect(pulled.every(({ body }) => body.length > 0)).toBe(true)
    }
  })

  it('gives work out again when the lease is over, and refuses the answer that came too late', async () => {
    const { invoke, pull, respond, pass } = await started()
    await invoke()
    const [first] = (await pull('&lease_seconds=60')).body
    pass(59_999)
    expect((await pull()).body).toEqual([])
    pass(1)
    const late = await respond(first.id, { lease_id: first.lease_id })
    expect([late.status, late.body.error.code]).toEqual([409, 'lease_expired'])
    const [second] = (await pull()).body
    expect(second).toMatchObject({ id: first.id, attempts: 2 })
    expect((await respond(first.id, { lease_id: first.lease_id })).status).toBe(409)
    expect((await respond(first.id, { lease_id: second.lease_id })).status).toBe(200)
  })

  it('takes no answer that does not fit what the capability promises', async () => {
    const { invoke, pull, respond } = await started({ output_schema: { type: 'object', required: ['free'] } })
    const { body } = await invoke()
    await pull()
    const wrong = await respond(body.invocation_id, { output: {} })
    expect([wrong.status, wrong.body.error.message]).toEqual([400, 'output: expected a member "free", found none'])
    expect((await respond(body.invocation_id)).status).toBe(200)
  })
})
