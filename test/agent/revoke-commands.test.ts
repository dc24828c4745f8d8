import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { followRevocationFile, readRevocationFile, writeRevocationFile } from '../../src/agent/revocation-file.ts'
import {
  decodeRevocations,
  decodeSuccession,
  KnownRevocations,
  openRevocations,
  type RevocationList,
} from '../../src/channel/membership/index.ts'
import { type Env } from '../../src/core/env.ts'
import { type ChannelId, type HolderId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { listOf } from '../channel/broker/lists.ts'
import { silentLog } from '../silent-log.ts'
import { runChannel } from './channel-command.ts'
import { type Ended } from './fake-io.ts'

const keyOf = (byte: number): SecretKey => new SecretKey(new Uint8Array(32).fill(byte))
const hexOf = (secret: SecretKey): string => Buffer.from(secret.reveal()).toString('hex')
const OPERATOR = holderKey(keyOf(1))
const NEXT = holderKey(keyOf(2))
const CHANNEL = 'c1'.repeat(32) as ChannelId
const [A, B] = ['0a'.repeat(32), '0b'.repeat(32)] as [HolderId, HolderId]
const OWN: Env = { CT_CHANNEL_OPERATOR_KEY: hexOf(OPERATOR.secret), CT_REVOKE_CHANNEL: CHANNEL }

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ct-agent-revoke-'))
  file = join(folder, 'removed.list')
})
afterEach(() => rmSync(folder, { recursive: true }))

function listIn({ stdout }: Ended, operator = OPERATOR.id): RevocationList {
  return openRevocations(decodeRevocations(Buffer.from(stdout.trim(), 'hex')), operator).body
}

describe('channel revoke', () => {
  it('prints one line of hex, which removes those that are named', async () => {
    const ended = await runChannel('revoke', OWN, '--member', `${B},${A}`)
    expect(ended).toMatchObject({ status: 0, stderr: expect.stringContaining('removed: 2') })
    expect(listIn(ended)).toMatchObject({ channel: CHANNEL, removed: [A, B] })
  })

  it('adds to what the file has, and keeps it there', async () => {
    const env = { ...OWN, CT_CHANNEL_REVOCATIONS: file }
    const first = listIn(await runChannel('revoke', env, '--member', A))
    const second = await runChannel('revoke', env, '--member', B)
    expect(listIn(second).removed).toEqual([A, B])
    expect(listIn(second).sequence).toBeGreaterThan(first.sequence)
    expect(readFileSync(file, 'utf8')).toBe(second.stdout)
  })

  for (const [name, list, code] of [
    ['another operator signed', listOf(1, [A], { channel: CHANNEL, operator: NEXT }), 'ERR_SIGNATURE_INVALID'],
    [
      'is of another channel',
      listOf(1, [A], { channel: 'c2'.repeat(32) as ChannelId, operator: OPERATOR }),
      'ERR_ARTEFACT_INVALID',
    ],
  ] as const) {
    it(`does not go on from a list in the file that ${name}, and leaves it there`, async () => {
      writeRevocationFile(file, list, [])
      const before = readFileSync(file, 'utf8')
      const { status, stderr } = await runChannel('revoke', { ...OWN, CT_CHANNEL_REVOCATIONS: file }, '--member', B)
      expect(status).not.toBe(0)
      expect(stderr).toContain(code)
      expect(readFileSync(file, 'utf8')).toBe(before)
    })
  }

  it('says what is missing', async () => {
    const { status, stderr } = await runChannel('revoke', {})
    expect(status).toBe(2)
    expect(stderr).toContain('CT_CHANNEL_OPERATOR_KEY required')
    expect(stderr).toContain('CT_REVOKE_CHANNEL required')
  })
})

describe('channel rotate-operator', () => {
  it('prints a succession that both keys signed, after which the new key goes on with the list', async () => {
    const kept = { CT_CHANNEL_REVOCATIONS: file }
    await runChannel('revoke', { ...OWN, ...kept }, '--member', A)
    const rotation = { CT_CHANNEL_NEW_OPERATOR_KEY: hexOf(NEXT.secret), CT_ROTATE_CHANNEL: CHANNEL, ...kept }
    const { status, stdout } = await runChannel('rotate-operator', { ...OWN, ...rotation }, '--overlap', '60')
    expect(status).toBe(0)
    const { body } = decodeSuccession(Buffer.from(stdout.trim(), 'hex'))
    expect(body).toMatchObject({ channel: CHANNEL, kind: 'operator', from: OPERATOR.id, to: NEXT.id })
    expect(body.overlapUntil - body.issuedAt).toBe(60n)
    const { list, successions } = readRevocationFile(file)
    expect(successions.map((succession) => succession.body)).toEqual([body])
    expect(list === undefined ? undefined : openRevocations(list, NEXT.id).body.removed).toEqual([A])
    const later = { CT_CHANNEL_OPERATOR_KEY: hexOf(NEXT.secret), CT_CHANNEL_OPERATOR_PUBKEY: OPERATOR.id, ...kept }
    const ended = await runChannel('revoke', { ...OWN, ...later }, '--member', B)
    expect(listIn(ended, NEXT.id).removed).toEqual([A, B])
  })
})

describe('channel rotate-key', () => {
  it('prints a succession that holds on every channel, or on one', async () => {
    const env = { CT_CHANNEL_HOLDER_KEY: hexOf(keyOf(3)), CT_CHANNEL_NEW_HOLDER_KEY: hexOf(keyOf(4)) }
    const printed = async (...flags: readonly string[]) =>
      decodeSuccession(Buffer.from((await runChannel('rotate-key', env, ...flags)).stdout.trim(), 'hex')).body
    expect(await printed()).toMatchObject({ kind: 'holder', channel: '00'.repeat(32), to: holderKey(keyOf(4)).id })
    expect(await printed('--channel', CHANNEL)).toMatchObject({ channel: CHANNEL })
  })
})

describe('a file with a revocation list', () => {
  const known = () => new KnownRevocations({ operator: OPERATOR.id, channel: CHANNEL, clock: systemClock })
  const list = (sequence: number, removed: readonly HolderId[]) =>
    listOf(sequence, removed, { channel: CHANNEL, operator: OPERATOR })

  it('is learnt from, now and when it changes', async () => {
    writeRevocationFile(file, list(1, [A]), [])
    const revocations = known()
    followRevocationFile(file, revocations, silentLog)
    expect(revocations.isRevoked(A)).toBe(true)
    writeRevocationFile(file, list(2, [A, B]), [])
    await expect.poll(() => revocations.isRevoked(B), { timeout: 5_000 }).toBe(true)
  })

  it('is written when a newer list comes another way, and not with an older one', () => {
    const revocations = known()
    followRevocationFile(file, revocations, silentLog)
    revocations.learn(list(2, [A]))
    expect(readRevocationFile(file).list?.body.sequence).toBe(2n)
    writeRevocationFile(file, list(9, [A]), [])
    revocations.learn(list(3, [B]))
    expect(readRevocationFile(file).list?.body.sequence).toBe(9n)
  })

  for (const [name, text] of [
    ['text', 'hello'],
    ['half a list', 'ab'.repeat(50)],
    ['far more than a list', 'ab'.repeat(60_000)],
  ] as const) {
    it(`is refused when it holds ${name}`, () => {
      writeFileSync(file, text)
      expect(() => followRevocationFile(file, known(), silentLog)).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    })
  }
})
