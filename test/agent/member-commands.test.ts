import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import vectors from '../vectors/channel.json' with { type: 'json' }
import { problemsOf, runChannel } from './channel-command.ts'
import { type Ended } from './fake-io.ts'

const SECRET = 'c0ffee'.repeat(10)
const folder = mkdtempSync(join(tmpdir(), 'ct-member-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [LINK_A, LINK_B] = vectors.attestations.slice(1)
if (LINK_A === undefined || LINK_B === undefined) throw new Error('expected vectors')

const MEMBER = {
  CT_CHANNEL_OPERATOR_PUBKEY: vectors.linkChannel.operator,
  CT_CHANNEL_BRIDGE_HOLDER: LINK_B.holder,
  CT_CHANNEL_HOLDER_KEY: LINK_A.holderSeed,
  CT_CHANNEL_NOISE_PUBKEY: LINK_A.noiseKey,
}

describe('channel member-material', () => {
  const links = [
    { vector: LINK_A, other: LINK_B },
    { vector: LINK_B, other: LINK_A },
  ]
  for (const { vector, other } of links) {
    it(`prints the four lines that scripts read, to the column: ${vector.name}`, async () => {
      const ended = await runChannel('member-material', {
        ...MEMBER,
        CT_CHANNEL_BRIDGE_HOLDER: ` ${other.holder.toUpperCase()} `,
        CT_CHANNEL_HOLDER_KEY: vector.holderSeed,
        CT_CHANNEL_NOISE_PUBKEY: vector.noiseKey,
      })
      expect(ended).toEqual({
        status: 0,
        stderr: '',
        stdout: [
          `holder_pubkey     = ${vector.holder}\n`,
          `noise_pubkey      = ${vector.noiseKey}\n`,
          `channel_id        = ${vector.channel}\n`,
          `noise_attestation = ${vector.signature}\n`,
        ].join(''),
      })
    })
  }

  it('takes everything but the private key as flags too', async () => {
    const { CT_CHANNEL_HOLDER_KEY } = MEMBER
    const flags = ['--operator', MEMBER.CT_CHANNEL_OPERATOR_PUBKEY, '--bridge-holder', MEMBER.CT_CHANNEL_BRIDGE_HOLDER]
    expect(
      await runChannel('member-material', { CT_CHANNEL_HOLDER_KEY }, ...flags, '--noise-pubkey', LINK_A.noiseKey),
    ).toEqual(await runChannel('member-material', MEMBER))
    const refused = await runChannel('member-material', MEMBER, '--holder-key', CT_CHANNEL_HOLDER_KEY)
    expect([refused.status, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toMatch(/^Error: "unrecognized flag/)
  })

  it('asks for everything that is missing at once, in the order of the original', async () => {
    expect(await problemsOf('member-material', { CT_CHANNEL_BRIDGE_HOLDER: ' ' })).toEqual([
      'CT_CHANNEL_OPERATOR_PUBKEY required (64 hex)',
      'CT_CHANNEL_BRIDGE_HOLDER required (64 hex)',
      'CT_CHANNEL_HOLDER_KEY required (64 hex)',
      'CT_CHANNEL_NOISE_PUBKEY required (64 hex)',
    ])
  })

  it('tells malformed from missing, and shows no private key (W45)', async () => {
    const found = await problemsOf('member-material', {
      CT_CHANNEL_OPERATOR_PUBKEY: 'zz',
      CT_CHANNEL_HOLDER_KEY: SECRET,
      CT_CHANNEL_NOISE_PUBKEY: `${'a'.repeat(62)}é`,
    })
    expect(found).toEqual([
      expect.stringMatching(/^CT_CHANNEL_OPERATOR_PUBKEY invalid \(64 hex\): /),
      'CT_CHANNEL_BRIDGE_HOLDER required (64 hex)',
      expect.stringMatching(/^CT_CHANNEL_HOLDER_KEY invalid \(64 hex\): /),
      expect.stringMatching(/^CT_CHANNEL_NOISE_PUBKEY invalid \(64 hex\): /),
    ])
    expect(found.join()).not.toContain(SECRET.slice(0, 8))
  })

  it('points out a link of a member with itself', async () => {
    const { status, stdout, stderr } = await runChannel('member-material', {
      ...MEMBER,
      CT_CHANNEL_BRIDGE_HOLDER: LINK_A.holder,
    })
    expect([status, stdout.split('\n').length]).toEqual([0, 5])
    expect(stderr).toMatch(/^ct-agent channel: CT_CHANNEL_BRIDGE_HOLDER is this member’s own key[^\n]*\n$/)
  })
})

describe('channel join-pipeline-role', () => {
  const member = { CT_CHANNEL_HOLDER_KEY: LINK_A.holderSeed, CT_CHANNEL_NOISE_PUBKEY: LINK_A.noiseKey }
  const channelIn = ({ stdout }: Ended): string | undefined => /^channel_id {8}= (\w+)$/m.exec(stdout)?.[1]

  for (const { name, operator, pipeline, role, channel } of vectors.pipelineRoles) {
    it(`prints names and material: ${name}`, async () => {
      const env = { ...member, CT_CHANNEL_OPERATOR_PUBKEY: operator, CT_PIPELINE_ID: pipeline, CT_PIPELINE_ROLE: role }
      const { status, stdout, stderr } = await runChannel('join-pipeline-role', env)
      expect([status, stderr]).toEqual([0, ''])
      const lines = stdout.split('\n')
      expect(lines.slice(0, 5)).toEqual([
        `pipeline_id       = ${pipeline}`,
        `role              = ${role}`,
        `holder_pubkey     = ${LINK_A.holder}`,
        `noise_pubkey      = ${LINK_A.noiseKey}`,
        `channel_id        = ${channel}`,
      ])
      expect(lines[5]).toMatch(/^noise_attestation = [0-9a-f]{128}$/)
      expect(lines.slice(6)).toEqual([''])
    })
  }

  // The published id itself cannot be computed: its operator is not published.
  it(`gives two holders the same id: ${vectors.publishedPipelineRole.name}`, async () => {
    const { pipeline, role, channel } = vectors.publishedPipelineRole
    const env = {
      CT_CHANNEL_OPERATOR_PUBKEY: vectors.linkChannel.operator,
      CT_PIPELINE_ID: pipeline,
      CT_PIPELINE_ROLE: role,
    }
    const [first, second] = await Promise.all(
      [LINK_A, LINK_B].map(({ holderSeed, noiseKey }) =>
        runChannel('join-pipeline-role', {
          ...env,
          CT_CHANNEL_HOLDER_KEY: holderSeed,
          CT_CHANNEL_NOISE_PUBKEY: noiseKey,
        }),
      ),
    )
    if (first === undefined || second === undefined) throw new Error('expected two results')
    expect(channelIn(first)).toBe(channelIn(second))
    expect(channelIn(first)).toHaveLength(channel.length)
    expect(first.stdout).not.toBe(second.stdout)
  })

  it('takes the names to the blank, also from a settings file, and empty ones', async () => {
    const path = join(folder, 'settings')
    writeFileSync(path, 'CT_PIPELINE_ID=" x "\nCT_PIPELINE_ROLE="physics"\n')
    chmodSync(path, 0o600)
    const env = { ...member, CT_CHANNEL_OPERATOR_PUBKEY: '11'.repeat(32), CT_PIPELINE_ROLE: '', CT_CONFIG_FILE: path }
    const blank = await runChannel('join-pipeline-role', env)
    expect(blank.stdout).toMatch(/^pipeline_id {7}= {2}x \nrole {14}= \nholder_pubkey/)
    const trimmed = await runChannel('join-pipeline-role', env, '--pipeline', 'x')
    expect(channelIn(blank)).toMatch(/^[0-9a-f]{64}$/)
    expect(channelIn(trimmed)).not.toBe(channelIn(blank))
  })

  it('asks for everything that is missing at once, in the order of the original', async () => {
    expect(await problemsOf('join-pipeline-role', {})).toEqual([
      'CT_CHANNEL_OPERATOR_PUBKEY required (64 hex)',
      'CT_PIPELINE_ID required (a text)',
      'CT_PIPELINE_ROLE required (a text)',
      'CT_CHANNEL_HOLDER_KEY required (64 hex)',
      'CT_CHANNEL_NOISE_PUBKEY required (64 hex)',
    ])
    expect(
      await problemsOf('join-pipeline-role', { ...MEMBER, CT_PIPELINE_ID: '', CT_PIPELINE_ROLE: '\ud800' }),
    ).toEqual([expect.stringMatching(/^CT_PIPELINE_ROLE invalid \(a text\): /)])
  })
})
