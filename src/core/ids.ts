/**
 * Names of keys and calls. The only way to make one is to parse it, so a value of these types is always well formed.
 *
 * @module
 */
import { type Brand } from './brand.ts'
import { fromHex, toHex } from './bytes.ts'

/** Ed25519 public key of a member: 64 lower-case hex digits. */
export type HolderId = Brand<string, 'HolderId'>

/** X25519 public key used in the Noise handshake: 64 lower-case hex digits. */
export type NoiseKeyId = Brand<string, 'NoiseKeyId'>

/** A channel: 64 lower-case hex digits. */
export type ChannelId = Brand<string, 'ChannelId'>

/** A cell of the network, as cards name them: 64 lower-case hex digits. */
export type CellId = Brand<string, 'CellId'>

/** SHA-256 of something, such as the reference of a match: 64 lower-case hex digits. */
export type Hash = Brand<string, 'Hash'>

/** Ed25519 signature: 128 lower-case hex digits. */
export type Signature = Brand<string, 'Signature'>

/** One run of one program: 32 lower-case hex digits, made anew at every start. */
export type InstanceId = Brand<string, 'InstanceId'>

/** A parsed value, or what was expected and what was found instead. */
export type Parsed<Value> = { readonly value: Value } | { readonly problem: string }

/** Holder public key from 64 hex digits in either case; surrounding blanks are allowed. */
export function parseHolderId(text: string): Parsed<HolderId> {
  return parseFixedHex<HolderId>(text, KEY_BYTES)
}

/** Noise public key from 64 hex digits in either case; surrounding blanks are allowed. */
export function parseNoiseKeyId(text: string): Parsed<NoiseKeyId> {
  return parseFixedHex<NoiseKeyId>(text, KEY_BYTES)
}

/** Channel from 64 hex digits in either case; surrounding blanks are allowed. */
export function parseChannelId(text: string): Parsed<ChannelId> {
  return parseFixedHex<ChannelId>(text, KEY_BYTES)
}

/** Cell from 64 hex digits in either case; surrounding blanks are allowed. */
export function parseCellId(text: string): Parsed<CellId> {
  return parseFixedHex<CellId>(text, KEY_BYTES)
}

/** Hash from 64 hex digits in either case; surrounding blanks are allowed. */
export function parseHash(text: string): Parsed<Hash> {
  return parseFixedHex<Hash>(text, KEY_BYTES)
}

/** Signature from 128 hex digits in either case; surrounding blanks are allowed. */
export function parseSignature(text: string): Parsed<Signature> {
  return parseFixedHex<Signature>(text, SIGNATURE_BYTES)
}

/** Length of a signature, in bytes. */
export const SIGNATURE_BYTES = 64
/** Length of a public or secret key, in bytes. */
export const KEY_BYTES = 32
/** Length of an instance id, in bytes. */
export const INSTANCE_BYTES = 16

/** Short form for logs and screens: the first ten digits. */
export function shortId(id: HolderId | NoiseKeyId | InstanceId | Hash): string {
  return id.slice(0, 10)
}

function parseFixedHex<Id extends string>(text: string, length: number): Parsed<Id> {
  const bytes = parseHexBytes(text, length)
  return 'problem' in bytes ? bytes : { value: toHex(bytes.value) as Id }
}

/** Exactly `length` bytes from hex in either case; the problem never repeats the text, which may be a secret. */
export function parseHexBytes(text: string, length: number): Parsed<Uint8Array> {
  const trimmed = text.trim()
  const bytes = fromHex(trimmed)
  if ('problem' in bytes) return { problem: `expected ${length * 2} hex digits, found ${bytes.problem}` }
  if (bytes.length !== length) return { problem: `expected ${length * 2} hex digits, found ${trimmed.length}` }
  return { value: bytes }
}
