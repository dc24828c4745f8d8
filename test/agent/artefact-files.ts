/**
 * Signed artefacts in files of a temporary folder, and the keys that signed them.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { AGENT_CARD, type AgentCard, cardJson, sealCard } from '../../src/cards/index.ts'
import { lifetime } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type ExactObject, parseExactJson, writeExactJson } from '../../src/core/exact-json.ts'
import { type Signature } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey, sign } from '../../src/core/keys.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'

export const [ALICE, BOB, CAROL] = [1, 2, 3].map((seed) => holderKey(new SecretKey(Buffer.alloc(32, seed)))) as [
  HolderKey,
  HolderKey,
  HolderKey,
]

/** The environment in which a command signs with this key. */
export function signingWith({ secret }: HolderKey): Readonly<Record<string, string>> {
  return { CT_CHANNEL_HOLDER_KEY: toHex(secret.reveal()) }
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function fileWith(content: string | Uint8Array, name = 'file.json'): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, content)
  return path
}

/** JSON of a card that ALICE signed, as of now unless it says otherwise. */
export function cardText(changes: Partial<AgentCard> = {}): string {
  return writeExactJson(cardJson(sealCard({ ...cardNow(), ...changes }, ALICE.secret)))
}

/** The same, signed in the legacy form. */
export function legacyCardText(): string {
  const body = cardNow()
  const signature = toHex(sign(AGENT_CARD.preimage(body, 'bare'), ALICE.secret)) as Signature
  return writeExactJson(cardJson({ body, signature }))
}

function cardNow(): AgentCard {
  return {
    holder: ALICE.id,
    roleTags: ['planner', 'reviewer'],
    skills: [{ id: 'review', description: 'Reviews code', examples: ['review this'] }],
    cells: [],
    channels: [],
    ...lifetime(unixSeconds(Date), u64(3_600)),
  }
}

/** One result line as JSON. */
export function parsed(line: string): ExactObject {
  return parseExactJson(line, 'a result') as ExactObject
}
