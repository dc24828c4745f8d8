/**
 * Agent cards below each other, for people.
 *
 * @module
 */
import { type AgentCard } from '../../cards/index.ts'
import { printable } from '../../core/printable.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { tableLines } from '../table.ts'

const MAX_CELL_CHARS = 60

/** A head, and a line for each card; the holder in full, for it is what one trusts and names. */
export function cardTable(cards: readonly AgentCard[], now: UnixSeconds): string {
  const rows = cards.map(({ holder, roleTags, skills, expiresAt }) => [
    holder,
    cell(roleTags),
    cell(skills.map(({ id }) => id)),
    inWords(expiresAt - now),
  ])
  return tableLines([HEAD, ...rows]).join('\n')
}

const HEAD: readonly string[] = ['HOLDER', 'ROLES', 'SKILLS', 'EXPIRES IN']

function cell(texts: readonly string[]): string {
  return texts.length === 0 ? '–' : printable(texts.join(', '), MAX_CELL_CHARS)
}

function inWords(seconds: bigint): string {
  const unit = UNITS.find(([, size]) => seconds >= 2n * size) ?? (['s', 1n] as const)
  return `${seconds / unit[1]} ${unit[0]}`
}

const UNITS = [
  ['days', 86_400n],
  ['h', 3_600n],
  ['min', 60n],
] as const
