import { describe, expect, it } from 'vitest'
import { type FoundCard, findCards, type Search } from '../../src/agent/registry/found-cards.ts'
import { cardJson, sealCard } from '../../src/cards/index.ts'
import { type CardRegistryLink } from '../../src/channel/card-registry/index.ts'
import { lifetime } from '../../src/core/artefact.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { u64 } from '../../src/core/u64.ts'

const now = u64(1_000)
const cursor = (index: number): HolderId => index.toString(16).padStart(64, '0') as HolderId

function cardOf(seed: number, { role = 'planner', skill = 'plan', ttl = 100 } = {}): string {
  const { id, secret } = holderKey(new SecretKey(Buffer.alloc(32, seed)))
  const skills = [{ id: skill, description: '', examples: [] }]
  const body = { holder: id, roleTags: [role], skills, cells: [], channels: [], ...lifetime(u64(900), u64(ttl + 100)) }
  return writeExactJson(cardJson(sealCard(body, secret)))
}

type Page = Awaited<ReturnType<CardRegistryLink['find']>>
type Asked = Parameters<CardRegistryLink['find']>[0]

async function search(
  answer: (asked: Asked, page: number) => Omit<Page, 'kind'>,
  query: Partial<Search> = {},
): Promise<{ good: string[]; problems: string[]; asked: Asked[] }> {
  const asked: Asked[] = []
  const registry: Pick<CardRegistryLink, 'find'> = {
    find: (question) => {
      asked.push(question)
      return Promise.resolve({ kind: 'found', ...answer(question, asked.length - 1) })
    },
  }
  const found: FoundCard[] = []
  const how = { options: () => ({ now }), signal: new AbortController().signal }
  for await (const one of findCards(registry, { limit: 10, ...query }, how)) found.push(one)
  return {
    good: found.flatMap((one) => ('card' in one ? [writeExactJson(cardJson(one.card))] : [])),
    problems: found.flatMap((one) => ('problem' in one ? [one.problem.code] : [])),
    asked,
  }
}

describe('findCards', () => {
  it('asks for the next page where the last one ended, and for no more than are missing', async () => {
    const pages = [[cardOf(1), cardOf(2)], [cardOf(3)]]
    const { good, asked } = await search(
      (_, page) => ({ cards: pages[page] ?? [], next: page === 0 ? cursor(5) : undefined }),
      { limit: 4, role: 'planner' },
    )
    expect(good).toEqual(pages.flat())
    expect(asked).toEqual([
      { role: 'planner', limit: 4, after: undefined },
      { role: 'planner', limit: 2, after: cursor(5) },
    ])
  })

  it('believes nothing of a card: signature, time and what was asked are checked here', async () => {
    const cards = [
      cardOf(1).replace('planner', 'plannex'),
      cardOf(2, { ttl: 0 }),
      'nothing',
      cardOf(3, { role: 'Planner' }),
      cardOf(4, { skill: 'plans' }),
      cardOf(5),
    ]
    const { good, problems } = await search(() => ({ cards }), { role: 'planner', skill: 'plan' })
    expect(good).toEqual([cardOf(5)])
    expect(problems).toEqual([
      'ERR_SIGNATURE_INVALID',
      'ERR_ARTEFACT_EXPIRED',
      'ERR_ARTEFACT_INVALID',
      'ERR_PROTOCOL',
      'ERR_PROTOCOL',
    ])
  })

  it('gives out one card of each holder, and no more than were asked for', async () => {
    const { good } = await search(() => ({ cards: [cardOf(1), cardOf(1), cardOf(2), cardOf(3)], next: cursor(1) }), {
      limit: 2,
    })
    expect(good).toEqual([cardOf(1), cardOf(2)])
  })

  it('ends when the pages of a broker do not', async () => {
    let asked = 0
    const standing = search((_, page) => {
      asked = page + 1
      return { cards: [], next: cursor(7) }
    })
    await expect(standing).rejects.toMatchObject({ code: 'ERR_PROTOCOL' })
    expect(asked).toBe(2)
    await expect(search((_, page) => ({ cards: [], next: cursor(page) }))).rejects.toMatchObject({
      code: 'ERR_PROTOCOL',
    })
  })
})
