/**
 * Signed artefacts on one core: how many a second are signed and verified, beside bare Ed25519 by OpenSSL.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { seal, type Verified } from '../../src/core/artefact.ts'
import { type HolderKey, holderKey, SecretKey, verifyMany } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { CAPACITY_OFFER, type CapacityOffer, openOffer } from '../../src/offers/offer.ts'
import { Collector, inRounds, OURS, type Row } from '../row.ts'

const OPENSSL = 'node:crypto'
/** Signers that take turns: no verifier may live on one key it knows. */
const SIGNERS = 64
/** One round of the other rows is so many short slices here, all subjects in turn. */
const SLICES_A_ROUND = 3
const SLICE_SHARE = 0.1
const NOW = u64(2_000_000_000)

/** An offer with what both sides need, ready before the clock runs. */
interface Sample {
  readonly body: CapacityOffer
  readonly secret: SecretKey
  readonly sealed: Verified<CapacityOffer>
  readonly message: Uint8Array
  readonly signature: Uint8Array
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

interface Subject {
  readonly rates: Collector
  readonly name: string
  readonly run: (sample: Sample) => unknown
}

export const signingRow: Row = {
  name: 'signing',
  run: async ({ rounds, loadMs }) => {
    const samples = Array.from({ length: SIGNERS }, (_, index) => sampleOf(index))
    const [signed, verified, inBulk] = [collector(), collector(), collector()]
    const subjects: readonly Subject[] = [
      { rates: signed, name: OURS, run: ({ body, secret }) => seal(CAPACITY_OFFER, body, secret) },
      { rates: signed, name: OPENSSL, run: ({ message, privateKey }) => sign(null, message, privateKey) },
      { rates: verified, name: OURS, run: ({ sealed }) => openOffer(sealed, { now: NOW }) },
      { rates: verified, name: OPENSSL, run: verifyBare },
      { rates: inBulk, name: OURS, run: ({ sealed }) => openOffer(sealed, { now: NOW, verifier: verifyMany }) },
      { rates: inBulk, name: OPENSSL, run: verifyBare },
    ]
    const measure = async ({ rates, name, run }: Subject): Promise<void> => {
      rates.add(name, perSecond(samples, run, loadMs * SLICE_SHARE))
    }
    for (const { run } of subjects) perSecond(samples, run, loadMs * SLICE_SHARE)
    await inRounds(rounds * SLICES_A_ROUND, subjects, measure)
    const note = `an offer of ${samples[0]?.message.length} bytes; ${OPENSSL} has its keys and bytes ready, ct-agent makes them`
    const unit = 'offers/s'
    const better = 'higher'
    return [
      { title: 'offers signed', unit, better, goals: [], measured: signed.measured, note },
      { title: 'offers verified, one by one', unit, better, goals: [], measured: verified.measured },
      {
        title: 'offers verified in bulk',
        unit,
        better,
        // Not more than three times slower.
        goals: [{ kind: 'at least', times: 0.334, of: OPENSSL }],
        measured: inBulk.measured,
      },
    ]
  },
}

function collector(): Collector {
  return new Collector([OURS, OPENSSL])
}

function verifyBare({ message, publicKey, signature }: Sample): boolean {
  if (!verify(null, message, publicKey, signature)) throw new Error('expected a good signature, found another')
  return true
}

function perSecond(samples: readonly Sample[], run: (sample: Sample) => unknown, milliseconds: number): number {
  const began = performance.now()
  const end = began + milliseconds
  let done = 0
  while (performance.now() < end) {
    for (const sample of samples) {
      run(sample)
      done += 1
      if (performance.now() >= end) break
    }
  }
  return (done * 1_000) / (performance.now() - began)
}

function sampleOf(index: number): Sample {
  const { secret, id }: HolderKey = holderKey(new SecretKey(new Uint8Array(32).fill(index + 1)))
  const body: CapacityOffer = {
    holder: id,
    kind: 'CloudApiQuota',
    models: [
      'claude-opus-4-8',
      'claude-sonnet-4-8',
      'claude-haiku-4-8',
      'local-llama-70b',
      'local-qwen-coder-30b',
      'local-deepseek-flash',
    ],
    units: u64(1_000_000 + index),
    minPrice: u64(50),
    currency: 'ct-llm-token-chain',
    issuedAt: NOW,
    expiresAt: U64_MAX,
    services: ['CodeGeneration', 'SafetyCheck', { Custom: 'static_analysis' }, { Custom: 'translation_review' }],
  }
  const sealed = seal(CAPACITY_OFFER, body, secret)
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, secret.reveal()]),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    body,
    secret,
    sealed,
    message: CAPACITY_OFFER.preimage(body, CAPACITY_OFFER.domain),
    signature: Buffer.from(sealed.signature, 'hex'),
    privateKey,
    publicKey: createPublicKey(privateKey),
  }
}

/** DER header of Ed25519 private keys (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
