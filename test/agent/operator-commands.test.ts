import { describe, expect, it } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import vectors from '../vectors/channel.json' with { type: 'json' }
import { problemsOf, runChannel } from './channel-command.ts'

const SECRET = 'c0ffee'.repeat(10)

const [INVITATION] = vectors.invitations.slice(1)
/** Those that the variables can ask for. */
const GRANTS = vectors.grants.filter(
  ({ body: { rights, delegable, direction } }) => rights === 'rw' && !delegable && direction !== 'both',
)
const [GRANT] = GRANTS
if (GRANT === undefined || INVITATION === undefined) throw new Error('expected vectors')

const GRANT_VARIABLES = {
  CT_CHANNEL_OPERATOR_KEY: GRANT.operatorSeed,
  CT_GRANT_CHANNEL: GRANT.body.channel,
  CT_GRANT_MEMBER_HOLDER: GRANT.body.holder,
  CT_GRANT_DIRECTION: GRANT.body.direction,
  CT_GRANT_EXPIRES: GRANT.body.expiresAt,
}

describe('channel grant', () => {
  for (const { name, operatorSeed, body, wire } of GRANTS) {
    for (const word of body.direction === 'accept' ? ['accept', ' Responder '] : ['initiate', 'INITIATOR']) {
      it(`prints one line of hex for ${word}: ${name}`, async () => {
        const env = { CT_CHANNEL_OPERATOR_KEY: operatorSeed }
        const flags = ['--channel', body.channel, '--member', body.holder, '--direction', word]
        expect(await runChannel('grant', env, ...flags, '--expires', body.expiresAt)).toEqual({
          status: 0,
          stdout: `${wire}\n`,
          stderr: '',
        })
      })
    }
  }

  it('does not do without any of its variables', async () => {
    expect(await problemsOf('grant', {})).toEqual([
      'CT_CHANNEL_OPERATOR_KEY required (64 hex)',
      'CT_GRANT_CHANNEL required (64 hex)',
      'CT_GRANT_MEMBER_HOLDER required (64 hex)',
      'CT_GRANT_DIRECTION must be initiate|accept, got None',
      'CT_GRANT_EXPIRES required (unix seconds)',
    ])
  })

  it('names everything that is malformed at once, and shows no private key', async () => {
    const found = await problemsOf('grant', {
      CT_CHANNEL_OPERATOR_KEY: SECRET,
      CT_GRANT_CHANNEL: 'ab'.repeat(31),
      CT_GRANT_MEMBER_HOLDER: `0x${'ab'.repeat(31)}`,
      CT_GRANT_DIRECTION: 'x',
      CT_GRANT_EXPIRES: 'tomorrow',
    })
    expect(found).toEqual([
      expect.stringMatching(/^CT_CHANNEL_OPERATOR_KEY invalid \(64 hex\): /),
      'CT_GRANT_CHANNEL invalid (64 hex): expected 64 hex digits, found 62',
      expect.stringMatching(/^CT_GRANT_MEMBER_HOLDER invalid \(64 hex\): /),
      'CT_GRANT_DIRECTION must be initiate|accept, got Some("x")',
      'CT_GRANT_EXPIRES invalid: invalid digit found in string',
    ])
    expect(found.join()).not.toContain(SECRET.slice(0, 8))
  })

  it('is in the words that scripts match on', async () => {
    const { stderr } = await runChannel('grant', { ...GRANT_VARIABLES, CT_GRANT_DIRECTION: 'both' })
    expect(stderr).toMatch(/^Error: "CT_GRANT_DIRECTION must be initiate\|accept, got Some\(\\"both\\"\)"\n/)
  })

  const times: readonly (readonly [string, string])[] = [
    ['-1', 'CT_GRANT_EXPIRES invalid: invalid digit found in string'],
    ['1.5', 'CT_GRANT_EXPIRES invalid: invalid digit found in string'],
    ['1e9', 'CT_GRANT_EXPIRES invalid: invalid digit found in string'],
    ['0x10', 'CT_GRANT_EXPIRES invalid: invalid digit found in string'],
    ['٣', 'CT_GRANT_EXPIRES invalid: invalid digit found in string'],
    ['18446744073709551616', 'CT_GRANT_EXPIRES invalid: number too large to fit in target type'],
    [' ', 'CT_GRANT_EXPIRES required (unix seconds)'],
  ]
  for (const [given, problem] of times) {
    it(`refuses ${JSON.stringify(given)} as a time`, async () => {
      expect(await problemsOf('grant', { ...GRANT_VARIABLES, CT_GRANT_EXPIRES: given })).toEqual([problem])
    })
  }

  it('signs the last second there is to the digit', async () => {
    const { stdout, stderr } = await runChannel('grant', {
      ...GRANT_VARIABLES,
      CT_GRANT_EXPIRES: '18446744073709551615',
    })
    expect(stdout).toMatch(/^[0-9a-f]{256}010300f{16}\n$/)
    expect(stderr).toBe('')
  })

  for (const expires of ['0', '1000']) {
    it(`prints a grant that expired at ${expires}, as the original does, but says so`, async () => {
      const { status, stdout, stderr } = await runChannel('grant', { ...GRANT_VARIABLES, CT_GRANT_EXPIRES: expires })
      expect([status, stdout.length]).toEqual([0, 279])
      expect(stderr).toMatch(/^ct-agent channel: CT_GRANT_EXPIRES is in the past: [^\n]*\n$/)
    })
  }
})

const INVITE_VARIABLES = {
  CT_CHANNEL_OPERATOR_KEY: INVITATION.operatorSeed,
  CT_INVITE_CHANNEL: INVITATION.body.channel,
  CT_INVITE_IDENTITY: INVITATION.body.invitee,
  CT_INVITE_DIRECTION: INVITATION.body.direction,
  CT_INVITE_EXPIRES: INVITATION.body.expiresAt,
}

describe('channel invite', () => {
  for (const { name, operatorSeed, body, wire } of vectors.invitations) {
    it(`prints one line of hex: ${name}`, async () => {
      const { stdout } = await runChannel('invite', {
        CT_CHANNEL_OPERATOR_KEY: operatorSeed,
        CT_INVITE_CHANNEL: body.channel,
        CT_INVITE_IDENTITY: body.invitee,
        CT_INVITE_DIRECTION: body.direction,
        CT_INVITE_EXPIRES: body.expiresAt,
      })
      expect(stdout).toBe(`${wire}\n`)
    })
  }

  // Bytes 128 to 130: direction, rights, delegable.
  const terms: readonly { env: Env; flags?: readonly string[]; bytes: string }[] = [
    { env: {}, bytes: '020300' },
    { env: { CT_INVITE_RIGHTS: ' ', CT_INVITE_DELEGABLE: '' }, bytes: '020300' },
    { env: { CT_INVITE_DIRECTION: 'Initiator' }, bytes: '010300' },
    { env: { CT_INVITE_DIRECTION: 'responder' }, bytes: '020300' },
    { env: { CT_INVITE_DIRECTION: 'BOTH ' }, bytes: '030300' },
    { env: { CT_INVITE_RIGHTS: 'read' }, bytes: '020100' },
    { env: { CT_INVITE_RIGHTS: 'R' }, bytes: '020100' },
    { env: { CT_INVITE_RIGHTS: 'write' }, bytes: '020200' },
    { env: { CT_INVITE_RIGHTS: 'w' }, bytes: '020200' },
    { env: { CT_INVITE_RIGHTS: 'readwrite' }, bytes: '020300' },
    { env: { CT_INVITE_RIGHTS: 'read-write' }, bytes: '020300' },
    { env: { CT_INVITE_RIGHTS: 'rw' }, bytes: '020300' },
    { env: { CT_INVITE_DELEGABLE: '1' }, bytes: '020301' },
    { env: { CT_INVITE_DELEGABLE: 'True' }, bytes: '020301' },
    { env: { CT_INVITE_DELEGABLE: '0' }, bytes: '020300' },
    { env: {}, flags: ['--delegable', '--rights', 'read', '--direction', 'both'], bytes: '030101' },
  ]
  for (const { env, flags = [], bytes } of terms) {
    it(`signs the terms ${bytes} for ${JSON.stringify(env)} ${flags.join(' ')}`, async () => {
      const { status, stdout, stderr } = await runChannel('invite', { ...INVITE_VARIABLES, ...env }, ...flags)
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout.slice(256, 262)).toBe(bytes)
      expect(stdout).toHaveLength(279)
    })
  }

  it('names everything that is missing or malformed at once', async () => {
    expect(await problemsOf('invite', {})).toEqual([
      'CT_CHANNEL_OPERATOR_KEY required (64 hex)',
      'CT_INVITE_CHANNEL required (64 hex)',
      'CT_INVITE_IDENTITY required (64 hex)',
      'CT_INVITE_DIRECTION must be initiate|accept|both, got None',
      'CT_INVITE_EXPIRES required (unix seconds)',
    ])
    const found = await problemsOf('invite', {
      CT_CHANNEL_OPERATOR_KEY: SECRET,
      CT_INVITE_CHANNEL: 'x',
      CT_INVITE_IDENTITY: 'y',
      CT_INVITE_DIRECTION: 'listen',
      CT_INVITE_RIGHTS: 'all',
      CT_INVITE_DELEGABLE: 'maybe',
      CT_INVITE_EXPIRES: '2030-01-01',
    })
    expect(found).toEqual([
      expect.stringMatching(/^CT_CHANNEL_OPERATOR_KEY invalid \(64 hex\): /),
      expect.stringMatching(/^CT_INVITE_CHANNEL invalid \(64 hex\): /),
      expect.stringMatching(/^CT_INVITE_IDENTITY invalid \(64 hex\): /),
      'CT_INVITE_DIRECTION must be initiate|accept|both, got Some("listen")',
      'CT_INVITE_RIGHTS must be read|write|readwrite, got Some("all")',
      'CT_INVITE_DELEGABLE invalid (1|0): found "maybe"',
      'CT_INVITE_EXPIRES invalid: invalid digit found in string',
    ])
    expect(found.join()).not.toContain(SECRET.slice(0, 8))
  })

  it('points out an invitation that nobody can redeem any more', async () => {
    const { status, stdout, stderr } = await runChannel('invite', { ...INVITE_VARIABLES, CT_INVITE_EXPIRES: '1' })
    expect([status, stdout.length]).toEqual([0, 279])
    expect(stderr).toMatch(/^ct-agent channel: CT_INVITE_EXPIRES is in the past: /)
  })
})
