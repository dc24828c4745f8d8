/**
 * Settings of the agent card.
 *
 * Holds: no card is configured only when none of its variables is set. Half a card, or one with a mistake in it, is a
 * problem and never passes for none.
 *
 * @module
 */
import { lifetime, problemOf } from '../core/artefact.ts'
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  invalid,
  missing,
  parseList,
  parseListOf,
  parseText,
  quote,
  readEnv,
} from '../core/env.ts'
import { type CellId, type ChannelId, type HolderId, type Parsed, parseCellId, parseChannelId } from '../core/ids.ts'
import { printable } from '../core/printable.ts'
import { parseU64, type U64, type UnixSeconds, u64 } from '../core/u64.ts'
import { AGENT_CARD, type AgentCard, type CardSkill } from './card.ts'

export const CARD_ENV = {
  roles: {
    name: 'CT_AGENT_CARD_ROLES',
    about: 'Roles that the agent card names; with it the agent has a card',
    expects: 'comma-separated role tags',
    parse: parseListOf(parseText),
    flag: 'roles',
  },
  skills: {
    name: 'CT_AGENT_CARD_SKILLS',
    about: 'Skills that the agent card names, separated by semicolons; the description may be left out',
    expects: 'id|description; id|description',
    parse: parseSkills,
    flag: 'skills',
  },
  channels: {
    name: 'CT_AGENT_CARD_CHANNELS',
    about: 'Channels that the agent card names, separated by commas',
    expects: '64 hex',
    parse: parseList,
    flag: 'card-channels',
  },
  cells: {
    name: 'CT_AGENT_CARD_CELLS',
    about: 'Cells that the agent card names, separated by commas',
    expects: '64 hex',
    parse: parseList,
    flag: 'card-cells',
  },
  ttlSeconds: {
    name: 'CT_AGENT_CARD_TTL_SECS',
    about: 'Seconds for which the agent card holds',
    expects: 'whole seconds',
    parse: parseText,
    fallback: '86400',
    flag: 'card-ttl',
  },
  out: {
    name: 'CT_AGENT_CARD_OUT',
    about: 'Folder below which the card is written, as .well-known/agent-card.json',
    expects: 'a folder',
    parse: parseText,
    fallback: '.',
    flag: 'card-out',
  },
  url: {
    name: 'CT_AGENT_CARD_URL',
    about: 'Address at which the card will be found; named when it is registered',
    expects: 'an https:// address',
    parse: parseHttpsUrl,
    flag: 'card-url',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export interface CardConfig {
  /** At least one. */
  readonly roleTags: readonly string[]
  readonly skills: readonly CardSkill[]
  readonly cells: readonly CellId[]
  readonly channels: readonly ChannelId[]
  /** At least 1. */
  readonly ttlSeconds: U64
  /** Folder below which the card is written. */
  readonly out: string
  readonly url: string | undefined
}

/** `undefined` when no card is configured, or when there is a problem with it. */
export function readCardConfig(env: Env, problems: EnvProblem[]): CardConfig | undefined {
  const before = problems.length
  const { roles, skills = [], out, url, ...texts } = readEnv(CARD_ENV, env, problems)
  const channels = readIds(CARD_ENV.channels, texts.channels, parseChannelId, problems)
  const cells = readIds(CARD_ENV.cells, texts.cells, parseCellId, problems)
  const ttlSeconds = readTtl(texts.ttlSeconds, problems)
  if (isBlank(env[CARD_ENV.roles.name]) && Object.values(CARD_ENV).some(({ name }) => !isBlank(env[name]))) {
    problems.push(missing(CARD_ENV.roles))
  }
  if (problems.length > before || roles === undefined || ttlSeconds === undefined) return undefined
  const config = { roleTags: roles, skills, cells, channels, ttlSeconds, out, url }
  const problem = problemOf(AGENT_CARD, cardOf(config, ANYBODY, u64(0)))
  if (problem === undefined) return config
  problems.push(invalid(rowOf(problem), problem))
  return undefined
}

/** The variable of the member that the problem names; of what is too long in all, the one that can be longest. */
function rowOf(problem: string): EnvRow<unknown> {
  const { roles, skills, cells, channels } = CARD_ENV
  const rows: Readonly<Record<string, EnvRow<unknown>>> = { role_tags: roles, skills, cells, channels }
  const [, member = ''] = /^[a-z ]+\.(\w+)/.exec(problem) ?? []
  return (Object.hasOwn(rows, member) ? rows[member] : undefined) ?? skills
}

/** Whose key it is makes no difference to what readers take. */
const ANYBODY = '0'.repeat(64) as HolderId

/** The card that the settings describe, from now on. */
export function cardOf(config: CardConfig, holder: HolderId, now: UnixSeconds): AgentCard {
  const { roleTags, skills, cells, channels, ttlSeconds } = config
  return { holder, roleTags, skills, cells, channels, ...lifetime(now, ttlSeconds) }
}

function readIds<Id>(
  { name }: EnvRow<unknown>,
  tokens: readonly string[] = [],
  parse: (text: string) => Parsed<Id>,
  problems: EnvProblem[],
): readonly Id[] {
  const ids: Id[] = []
  for (const token of tokens) {
    const parsed = parse(token)
    if ('value' in parsed) ids.push(parsed.value)
    else problems.push({ name, message: `${name} entry not 64 hex: ${printable(token, MAX_SHOWN_CHARS)}` })
  }
  return ids
}

/** More than a good entry has, so that one digit too many shows. */
const MAX_SHOWN_CHARS = 80

function readTtl(text: string, problems: EnvProblem[]): U64 | undefined {
  const { name } = CARD_ENV.ttlSeconds
  const parsed = parseU64(text)
  const problem =
    'problem' in parsed ? parsed.problem : parsed.value === 0n ? 'expected at least 1, found 0' : undefined
  if (problem !== undefined) problems.push({ name, message: `${name} invalid: ${problem}` })
  return 'value' in parsed ? parsed.value : undefined
}

function parseSkills(text: string): Parsed<readonly CardSkill[]> {
  const skills: CardSkill[] = []
  for (const entry of text.split(';')) {
    if (entry.trim() === '') continue
    const [id = '', ...description] = entry.split('|')
    if (id.trim() === '') return { problem: `expected an id before the description, found ${quote(entry.trim())}` }
    skills.push({ id: id.trim(), description: description.join('|').trim(), examples: [] })
  }
  return { value: skills }
}

function parseHttpsUrl(text: string): Parsed<string> {
  const url = text.trim()
  if (URL.canParse(url) && new URL(url).protocol === 'https:') return { value: url }
  return { problem: `found ${quote(url)}` }
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === ''
}
