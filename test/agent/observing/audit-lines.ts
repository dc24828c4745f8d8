/**
 * Audit logs made for tests.
 *
 * @module
 */
import { AuditChain, type ChainProblem } from '../../../src/agent/observing/audit/audit-chain.ts'
import { type AuditEntry, auditLine, CHAIN_START } from '../../../src/agent/observing/audit/audit-line.ts'

export const PEER = 'ab'.repeat(32)

export function entry(number: number): AuditEntry {
  return {
    event: 'call',
    at: 1_700_000_000_000 + number,
    facts: { peer: PEER, tool: 'ping', outcome: 'ok', ms: number },
  }
}

/** Whole lines, each with its line feed. */
export function chainOf(entries: readonly AuditEntry[]): readonly string[] {
  let head = CHAIN_START
  return entries.map((each) => {
    const line = auditLine(head, '0123456789', each)
    head = line.head
    return line.text
  })
}

export function entries(count: number): readonly AuditEntry[] {
  return Array.from({ length: count }, (_, index) => entry(index + 1))
}

export interface Found {
  readonly problem: ChainProblem | undefined
  readonly isTorn: boolean
  readonly entries: number
  readonly recovered: number
}

/** What a chain says to these bytes of a whole log. */
export function check(bytes: Buffer): Found {
  const chain = new AuditChain(true)
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    chain.add(bytes.subarray(start, end))
    start = end + 1
  }
  const isTorn = chain.end(bytes.subarray(start))
  return { problem: chain.problem, isTorn, entries: chain.entries, recovered: chain.recovered }
}
