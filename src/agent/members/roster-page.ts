/**
 * The roster as tables of SQL.
 *
 * @module
 */
import { decodeInvitation, encodeInvitation } from '../../channel/membership/index.ts'
import { type Database, type Row } from '../../core/database.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Rights } from '../../core/rights.ts'
import { type U64, type UnixSeconds, u64 } from '../../core/u64.ts'
import {
  type InvitationRecord,
  type MemberRecord,
  type OpenedInvitation,
  type RemovalRecord,
  type RosterPage,
  type ServedPlace,
} from './roster.ts'

// Points in time are texts: a number of SQLite ends long before a `u64` does.
export const SCHEMA = `
CREATE TABLE invitations (
  number INTEGER PRIMARY KEY AUTOINCREMENT, invitee TEXT NOT NULL UNIQUE, sealed BLOB NOT NULL, name TEXT, tools TEXT,
  uses INTEGER NOT NULL, made_at TEXT NOT NULL, revoked_at TEXT
) STRICT;
CREATE TABLE redemptions (
  invitee TEXT NOT NULL REFERENCES invitations (invitee) ON DELETE CASCADE, holder TEXT NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY (invitee, holder)
) STRICT, WITHOUT ROWID;
CREATE TABLE members (
  holder TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, rights TEXT NOT NULL, tools TEXT, invitee TEXT NOT NULL,
  since TEXT NOT NULL, granted_at TEXT NOT NULL, grant_ends TEXT NOT NULL
) STRICT;
CREATE TABLE removals (
  number INTEGER PRIMARY KEY AUTOINCREMENT, holder TEXT NOT NULL UNIQUE, removed_at TEXT NOT NULL, ends_at TEXT NOT NULL
) STRICT;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`

const INVITATIONS = `SELECT i.*, (SELECT count(*) FROM redemptions r WHERE r.invitee = i.invitee) AS used
FROM invitations i`

// Not `OR REPLACE`: that would also replace another member of the same name.
const PUT_MEMBER = `INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (holder) DO UPDATE SET name = excluded.name, rights = excluded.rights, tools = excluded.tools,
invitee = excluded.invitee, since = excluded.since, granted_at = excluded.granted_at, grant_ends = excluded.grant_ends`

export class SqlPage implements RosterPage {
  readonly #sql: Database

  constructor(sql: Database) {
    this.#sql = sql
  }

  invitation(invitee: HolderId): OpenedInvitation | undefined {
    const row = this.#sql.get(`${INVITATIONS} WHERE i.invitee = ?`, invitee)
    return row && invitationOf(row)
  }

  invitations(): readonly OpenedInvitation[] {
    return this.#sql.all(`${INVITATIONS} ORDER BY i.number`).map(invitationOf)
  }

  hasRedeemed(invitee: HolderId, holder: HolderId): boolean {
    return this.#sql.get('SELECT 1 FROM redemptions WHERE invitee = ? AND holder = ?', invitee, holder) !== undefined
  }

  member(holder: HolderId): MemberRecord | undefined {
    const row = this.#sql.get('SELECT * FROM members WHERE holder = ?', holder)
    return row && memberOf(row)
  }

  members(): readonly MemberRecord[] {
    return this.#sql.all('SELECT * FROM members ORDER BY name').map(memberOf)
  }

  memberCount(): number {
    return Number(this.#sql.get('SELECT count(*) AS count FROM members')?.['count'])
  }

  isNameTaken(name: string): boolean {
    return this.#sql.get('SELECT 1 FROM members WHERE name = ?', name) !== undefined
  }

  isRemoved(holder: HolderId): boolean {
    return this.#sql.get('SELECT 1 FROM removals WHERE holder = ?', holder) !== undefined
  }

  removals(): readonly RemovalRecord[] {
    return this.#sql.all('SELECT * FROM removals ORDER BY number DESC').map((row) => ({
      holder: row['holder'] as HolderId,
      removedAt: timeIn(row, 'removed_at'),
      endsAt: timeIn(row, 'ends_at'),
    }))
  }

  addInvitation({ invitee, sealed, name, tools, uses, madeAt, revokedAt }: InvitationRecord): void {
    this.#sql.run(
      'INSERT INTO invitations (invitee, sealed, name, tools, uses, made_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      invitee,
      encodeInvitation(sealed),
      name ?? null,
      listText(tools),
      uses,
      madeAt.toString(),
      revokedAt?.toString() ?? null,
    )
  }

  forgetInvitation(invitee: HolderId): void {
    this.#sql.run('DELETE FROM redemptions WHERE invitee = ?', invitee)
    this.#sql.run('DELETE FROM invitations WHERE invitee = ?', invitee)
  }

  noteRedemption(invitee: HolderId, holder: HolderId, at: UnixSeconds): void {
    this.#sql.run('INSERT INTO redemptions VALUES (?, ?, ?)', invitee, holder, at.toString())
  }

  revokeInvitation(invitee: HolderId, at: UnixSeconds): void {
    this.#sql.run('UPDATE invitations SET revoked_at = ? WHERE invitee = ?', at.toString(), invitee)
    this.#advance(at)
  }

  putMember(member: MemberRecord): void {
    const { holder, name, rights, tools, invitee, since, grantedAt, grantEnds } = member
    this.#sql.run(
      PUT_MEMBER,
      holder,
      name,
      rights,
      listText(tools),
      invitee,
      since.toString(),
      grantedAt.toString(),
      grantEnds.toString(),
    )
  }

  remove({ holder, removedAt, endsAt }: RemovalRecord): void {
    this.#sql.run(
      'INSERT OR REPLACE INTO removals (holder, removed_at, ends_at) VALUES (?, ?, ?)',
      holder,
      removedAt.toString(),
      endsAt.toString(),
    )
    this.#advance(removedAt)
  }

  forgive(holder: HolderId, at: UnixSeconds): void {
    this.#sql.run('DELETE FROM removals WHERE holder = ?', holder)
    this.#advance(at)
  }

  makeRoom(): void {
    this.#sql.run(
      'DELETE FROM members WHERE holder = (SELECT holder FROM removals NATURAL JOIN members ORDER BY number LIMIT 1)',
    )
  }

  place(): ServedPlace | undefined {
    const text = this.#fact('place')
    return text === undefined ? undefined : placeOf(JSON.parse(text) as PlaceJson)
  }

  remember({ ticketEnds, ...place }: ServedPlace): void {
    this.#setFact('place', JSON.stringify({ ...place, ticketEnds: ticketEnds?.toString() }))
  }

  signer(): HolderId | undefined {
    return this.#fact('signer') as HolderId | undefined
  }

  noteSigner(signer: HolderId, at: UnixSeconds): void {
    this.#setFact('signer', signer)
    this.#advance(at)
  }

  sequence(): U64 {
    return u64(BigInt(this.#fact('sequence') ?? 0))
  }

  // Not below the time: lists go on getting newer when this file is begun anew.
  #advance(at: UnixSeconds): void {
    const next = this.sequence() + 1n
    this.#setFact('sequence', (next > at ? next : at).toString())
  }

  #fact(name: string): string | undefined {
    const value = this.#sql.get('SELECT value FROM facts WHERE name = ?', name)?.['value']
    return typeof value === 'string' ? value : undefined
  }

  #setFact(name: string, value: string): void {
    this.#sql.run('INSERT OR REPLACE INTO facts VALUES (?, ?)', name, value)
  }
}

// The file is written by this class alone, in the layout that was checked when it was opened.

function invitationOf(row: Row): OpenedInvitation {
  return {
    invitee: row['invitee'] as HolderId,
    sealed: decodeInvitation(row['sealed'] as Uint8Array),
    name: textIn(row, 'name'),
    tools: listIn(row, 'tools'),
    uses: Number(row['uses']),
    used: Number(row['used']),
    madeAt: timeIn(row, 'made_at'),
    revokedAt: textIn(row, 'revoked_at') === undefined ? undefined : timeIn(row, 'revoked_at'),
  }
}

function memberOf(row: Row): MemberRecord {
  return {
    holder: row['holder'] as HolderId,
    name: String(row['name']),
    rights: row['rights'] as Rights,
    tools: listIn(row, 'tools'),
    invitee: row['invitee'] as HolderId,
    since: timeIn(row, 'since'),
    grantedAt: timeIn(row, 'granted_at'),
    grantEnds: timeIn(row, 'grant_ends'),
  }
}

type PlaceJson = Omit<ServedPlace, 'ticketEnds'> & { readonly ticketEnds?: string }

function placeOf({ ticketEnds, ...place }: PlaceJson): ServedPlace {
  return { ...place, ticketEnds: ticketEnds === undefined ? undefined : u64(BigInt(ticketEnds)) }
}

function listText(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list)
}

function listIn(row: Row, key: string): readonly string[] | undefined {
  const text = textIn(row, key)
  return text === undefined ? undefined : (JSON.parse(text) as readonly string[])
}

function textIn(row: Row, key: string): string | undefined {
  const value = row[key]
  return typeof value === 'string' ? value : undefined
}

function timeIn(row: Row, key: string): UnixSeconds {
  return u64(BigInt(String(row[key])))
}
