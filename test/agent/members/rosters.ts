/**
 * Rosters of tests, and what is in them.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { makeInvitation, type Wish } from '../../../src/agent/members/inviting.ts'
import { type OperatorKeys } from '../../../src/agent/members/operator-keys.ts'
import { redeem } from '../../../src/agent/members/redemption.ts'
import { type InvitationRecord, type MemberRecord, type Roster } from '../../../src/agent/members/roster.ts'
import { openRoster } from '../../../src/agent/members/roster-file.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'

export const OPERATOR = holderKey(SecretKey.generate())
export const KEYS: OperatorKeys = {
  current: () => ({ signer: OPERATOR, first: OPERATOR.id, successions: [] }),
  reload: () => {},
}
export const CHANNEL = 'c7'.repeat(32) as ChannelId
export const NOW = u64(1_000_000)
export const DAY = u64(86_400)

export function someone(): HolderId {
  return toHex(SecretKey.generate().reveal()) as HolderId
}

/** A folder that is gone after the test. */
export function stateDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-members-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function emptyRoster(folder = stateDir()): Promise<Roster> {
  const roster = await openRoster(folder)
  onTestFinished(() => roster.close())
  return roster
}

/** An invitation, and the seed of its key. */
export interface Invited {
  readonly record: InvitationRecord
  readonly seed: SecretKey
}

export function invitation(wish: Partial<Wish> = {}, operator = OPERATOR): Invited {
  const seed = SecretKey.generate()
  const whole: Wish = { uses: 1, seconds: DAY, rights: 'rw', tools: undefined, name: undefined, ...wish }
  const inviter = {
    operator: { signer: operator, first: operator.id, successions: [] },
    channel: CHANNEL,
    holder: someone(),
    broker: [],
    addresses: [],
  }
  return { record: makeInvitation(whole, inviter, seed, NOW).record, seed }
}

/** An invitation that is kept. */
export function invited(roster: Roster, wish: Partial<Wish> = {}): Invited {
  const made = invitation(wish)
  roster.update((page) => page.addInvitation(made.record))
  return made
}

export function joins(
  roster: Roster,
  { record }: Invited,
  holder: HolderId = someone(),
  more: { readonly wish?: string; readonly now?: typeof NOW } = {},
): MemberRecord {
  const { wish = '', now = NOW } = more
  return roster.update((page) => redeem(page, { invitee: record.invitee, holder, wish, now, grantSeconds: DAY }))
}
