import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseTicket } from '../../src/channel/index.ts'
import { openGrant } from '../../src/channel/membership/index.ts'
import { holderKey } from '../../src/core/keys.ts'
import { unixSeconds } from '../../src/core/u64.ts'
import { type Ended, runLine } from './fake-io.ts'
import { emptyRoster, joins, someone, stateDir } from './members/rosters.ts'

const BROKER = '/ip4/127.0.0.1/tcp/4435'

let folder: string

beforeEach(() => {
  folder = stateDir()
})

function run(...argv: readonly string[]): Promise<Ended> {
  return runLine(argv, { CT_AGENT_STATE_DIR: folder })
}

async function json(...argv: readonly string[]): Promise<unknown> {
  const { status, stdout, stderr } = await run(...argv, '--json')
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

async function invited(...argv: readonly string[]) {
  const { ticket, ...rest } = (await json('invite', '--broker', BROKER, ...argv)) as { ticket: string; id: string }
  const roster = await emptyRoster(folder)
  const [record] = roster.read((page) => page.invitations()).slice(-1)
  if (record === undefined) throw new TypeError('expected an invitation')
  return { ticket: parseTicket(ticket), rest, record, roster }
}

describe('invite', () => {
  it('prints a ticket that holds the seed of the invited key and a grant of the operator for it', async () => {
    const { stdout, stderr, status } = await run('invite', '--broker', BROKER, '--uses', '3', '--expires', '30m')
    expect(status).toBe(0)
    const ticket = parseTicket(stdout)
    expect(stderr).not.toContain(stdout.trim())
    const { rendezvous, secret } = ticket
    if (rendezvous === undefined || secret === undefined) throw new TypeError('expected an invitation')
    const now = unixSeconds(Date)
    const { body } = openGrant(rendezvous.grant, { operator: rendezvous.operator, now })
    expect(rendezvous.isInvitation).toBe(true)
    expect(body).toMatchObject({ holder: holderKey(secret).id, direction: 'initiate', rights: 'rw', delegable: true })
    expect(Number(body.expiresAt - now)).toBeGreaterThan(1_795)
    expect(Number(body.expiresAt - now)).toBeLessThanOrEqual(1_800)
    expect(stderr).toMatch(/^ct-agent: good for 3 members until .*; rights rw, all tools$/m)
    const [kept] = (await emptyRoster(folder)).read((page) => page.invitations())
    expect([kept?.invitee, kept?.uses, kept?.used]).toEqual([body.holder, 3, 0])
    const file = readFileSync(join(folder, 'members.db'))
    const seed = Buffer.from(secret.reveal())
    expect([file.includes(seed), file.includes(seed.toString('hex'))]).toEqual([false, false])
  })

  it('asks for the broker when no serving agent told it, and needs none when one did', async () => {
    const asked = await run('invite')
    expect([asked.status, asked.stdout]).toEqual([2, ''])
    expect(asked.stderr).toMatch(/CT_CHANNEL_BROKER required .*; or start ct-agent serve --broker first/)
    const holder = someone()
    const tools = ['ping', 'service/echo']
    const place = { holder, broker: [BROKER], addresses: ['192.0.2.1:4433'], tools, ticketEnds: undefined }
    ;(await emptyRoster(folder)).update((page) => page.remember(place))
    const { stdout, stderr } = await run('invite', '--tools', 'echo,later', '--name', 'Alice', '--rights', 'r')
    expect(parseTicket(stdout)).toMatchObject({ holder, addresses: [{ host: '192.0.2.1', port: 4433 }] })
    expect(stderr).toMatch(/rights r, the tools service\/echo, later$/m)
    expect(stderr).toMatch(/^ct-agent: not served at present: later$/m)
  })

  it('writes into a file for its owner alone, and not to stdout', async () => {
    const file = join(folder, 'alice.ticket')
    const { stdout, status } = await run('invite', '--broker', BROKER, '--ticket-file', file)
    expect([status, stdout, (statSync(file).mode & 0o777).toString(8)]).toEqual([0, '', '600'])
    expect(parseTicket(readFileSync(file, 'utf8')).rendezvous?.isInvitation).toBe(true)
  })

  it('shows a QR code beside the string, for people only', async () => {
    const { stdout, stderr } = await run('invite', '--broker', BROKER, '--qr')
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stderr).toMatch(/^█{30,}$/m)
    const both = await run('invite', '--broker', BROKER, '--qr', '--json')
    expect([both.status, both.stdout]).toEqual([2, ''])
  })

  it('is listed with what became of it, and taken back by its id', async () => {
    const { rest, record, roster } = await invited('--name', 'alice')
    expect(rest).toMatchObject({ id: record.invitee.slice(0, 12), uses: 1, rights: 'rw', name: 'alice' })
    expect(await json('invite', 'list')).toMatchObject({ invitations: [{ id: rest.id, state: 'open', used: 0 }] })
    expect(await json('invite', 'revoke', rest.id)).toMatchObject({ id: rest.id, state: 'revoked' })
    const invitation = { record, seed: undefined as never }
    const join = () => joins(roster, invitation, someone(), { now: unixSeconds(Date) })
    expect(join).toThrow(expect.objectContaining({ code: 'ERR_INVITATION_REVOKED' }))
    expect((await run('invite', 'revoke', 'ffffffffffff')).status).toBe(2)
  })
})

describe('member rotate-operator', () => {
  it('changes the key, says until when the old one counts, and what that means for whom', async () => {
    const { ticket: before, record, roster } = await invited('--name', 'alice', '--uses', '2')
    joins(roster, { record, seed: undefined as never }, someone(), { now: unixSeconds(Date) })
    const { status, stdout, stderr } = await run('member', 'rotate-operator', '--overlap', '7d')
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^changed the key {2}.+… → .+… {2}overlap until /)])
    expect(stderr).toMatch(/1 members: each gets a new grant when it comes before then, or has to be invited again/)
    expect(stderr).toMatch(/1 open invitations can be redeemed until then/)
    const { ticket: after } = await invited('--name', 'bob')
    const [operator, succession] = [before.rendezvous?.operator, after.rendezvous?.successions?.[0]?.body]
    expect([after.rendezvous?.operator, succession?.from]).toEqual([operator, operator])
    expect(Number(succession?.overlapUntil) - Number(succession?.issuedAt)).toBe(7 * 86_400)
    expect(roster.read((page) => page.signer())).toBe(succession?.to)
    expect(await json('member', 'rotate-operator')).toMatchObject({ from: succession?.to, was_begun: false })
  })

  it('needs a key to change, and an overlap that can be read', async () => {
    const none = await run('member', 'rotate-operator')
    expect([none.status, none.stderr]).toEqual([2, expect.stringMatching(/with which ct-agent serve --broker has run/)])
    await invited()
    const wrong = await run('member', 'rotate-operator', '--overlap', '400d')
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringMatching(/at most 366 days/)])
  })
})

describe('member', () => {
  it('lists, removes and lets in again, by name and by key', async () => {
    const { record, roster } = await invited('--name', 'alice', '--tools', 'a')
    const { holder } = joins(roster, { record, seed: undefined as never }, someone(), { now: unixSeconds(Date) })
    const listed = { name: 'alice', holder, rights: 'rw', tools: ['a'], invitation: record.invitee.slice(0, 12) }
    expect(await json('member', 'list')).toMatchObject({ members: [listed], removed_keys: [] })
    expect(await json('member', 'remove', 'alice')).toEqual({ name: 'alice', holder, was_removed: false })
    expect(await json('member', 'remove', holder)).toEqual({ name: 'alice', holder, was_removed: true })
    expect(await json('member', 'list')).toMatchObject({ members: [{ ...listed, removed_at: expect.any(Number) }] })
    expect(await json('member', 'renew', 'alice', '--tools', '*', '--name', 'ali')).toMatchObject({
      name: 'ali',
      holder,
    })
    const { members } = (await json('member', 'list')) as { members: readonly object[] }
    expect(members).toEqual([expect.not.objectContaining({ removed_at: expect.anything(), tools: expect.anything() })])
  })

  it('removes a key that only the ticket let in, and says what else would let its owner in', async () => {
    const stranger = someone()
    const none = await run('member', 'remove', stranger)
    expect(none.stderr).toMatch(/ct-agent serve --broker has not run with this state folder/)
    const ticketEnds = (unixSeconds(Date) + 9_999n) as ReturnType<typeof unixSeconds>
    const roster = await emptyRoster(folder)
    roster.update((page) =>
      page.remember({ holder: someone(), broker: [BROKER], addresses: [], tools: [], ticketEnds }),
    )
    await invited()
    const { stdout, stderr } = await run('member', 'remove', someone())
    expect(stdout).toMatch(/^removed [0-9a-f]{64}\n$/)
    expect(stderr).toMatch(/restart it with --new-ticket, or with --members-only$/m)
    expect(stderr).toMatch(/one of the 1 open invitations/)
    expect(await json('member', 'list')).toMatchObject({ removed_keys: [{}, { holder: stranger }] })
    expect(await json('member', 'renew', stranger)).toEqual({ holder: stranger })
    expect((await run('member', 'renew', stranger)).status).toBe(2)
  })

  it('says of a name that nobody has which one was meant', async () => {
    const { record, roster } = await invited('--name', 'alice')
    joins(roster, { record, seed: undefined as never }, someone(), { now: unixSeconds(Date) })
    const { status, stderr } = await run('member', 'remove', 'alcie')
    expect([status, stderr]).toEqual([2, expect.stringMatching(/found "alcie"; did you mean alice\?/)])
  })
})

describe('serve --members-only', () => {
  const mistakes: readonly { readonly name: string; readonly args: readonly string[]; readonly says: RegExp }[] = [
    { name: 'without a broker', args: [], says: /CT_CHANNEL_BROKER required/ },
    {
      name: 'with a new ticket',
      args: ['--broker', BROKER, '--new-ticket'],
      says: /either --new-ticket or CT_MEMBERS_ONLY/,
    },
    {
      name: 'with a file for a ticket',
      args: ['--broker', BROKER, '--ticket-file', 'x'],
      says: /either --ticket-file or /,
    },
  ]
  for (const { name, args, says } of mistakes) {
    it(`is refused ${name}`, async () => {
      const { status, stdout, stderr } = await run('serve', '--members-only', ...args)
      expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(says)])
    })
  }
})
