/**
 * What a process holds in memory.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'

/** Resident memory in bytes; 0 once the process is gone. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024
}
