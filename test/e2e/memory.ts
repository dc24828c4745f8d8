/**
 * What another process holds in memory, and whether a text is in it, however it is written.
 *
 * Holds: Linux alone tells, and only of processes that the reader may trace, such as its children.
 *
 * @module
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

/** What the system maps at once, on every machine of this kind. */
const PAGE_BYTES = 4_096
const ENTRY_BYTES = 8
/** Of the last byte of a page's entry: the page is in memory, or swapped out. */
const IN_USE = 0xc0
const MAX_PIECE_BYTES = 32 * 1024 * 1024

/** Calls back with everything that the process can write to and has used, piece by piece. */
export function readMemory(pid: number, see: (bytes: Buffer) => void): void {
  const [memory, pages] = [openSync(`/proc/${pid}/mem`, 'r'), openSync(`/proc/${pid}/pagemap`, 'r')]
  try {
    for (const part of writableParts(pid)) {
      for (const [from, to] of usedParts(pages, part)) {
        const piece = Buffer.allocUnsafe(to - from)
        see(piece.subarray(0, readAt(memory, piece, from)))
      }
    }
  } finally {
    closeSync(memory)
    closeSync(pages)
  }
}

type Part = readonly [from: number, to: number]

function writableParts(pid: number): readonly Part[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      return from === undefined || to === undefined
        ? []
        : [[Number.parseInt(from, 16), Number.parseInt(to, 16)] as const]
    })
}

/** Runs of pages that hold something; the rest would be read as zeros. */
function usedParts(pages: number, [from, to]: Part): readonly Part[] {
  const entries = Buffer.alloc(((to - from) / PAGE_BYTES) * ENTRY_BYTES)
  const known = readAt(pages, entries, (from / PAGE_BYTES) * ENTRY_BYTES)
  const parts: [number, number][] = []
  for (let at = 0; at < known; at += ENTRY_BYTES) {
    if (((entries[at + ENTRY_BYTES - 1] ?? 0) & IN_USE) === 0) continue
    const page = from + (at / ENTRY_BYTES) * PAGE_BYTES
    const last = parts.at(-1)
    if (last?.[1] === page && page - last[0] < MAX_PIECE_BYTES) last[1] = page + PAGE_BYTES
    else parts.push([page, page + PAGE_BYTES])
  }
  return parts
}

/** How much could be read: a part may be gone in the meantime. */
function readAt(file: number, into: Buffer, position: number): number {
  try {
    return readSync(file, into, 0, into.length, position)
  } catch {
    return 0
  }
}

/** Bytes that show that a secret is there: as it stands, in UTF-16, in hex, and wherever it may begin in base64. */
export function writtenForms(secret: string | Uint8Array): ReadonlyMap<string, Buffer> {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const texts = new Map([
    ['hex', hex],
    ['HEX', hex.toUpperCase()],
    ...[0, 1, 2].flatMap((shift) => {
      const sure = sureBase64(bytes, shift)
      return [
        [`base64 from ${shift}`, sure],
        [`base64url from ${shift}`, sure.replaceAll('+', '-').replaceAll('/', '_')],
      ] as const
    }),
    ...(typeof secret === 'string' ? [['text', secret] as const] : []),
  ])
  const forms: [name: string, form: Buffer][] = [['bytes', bytes]]
  for (const [name, text] of texts) {
    forms.push([name, Buffer.from(text)], [`${name} in UTF-16`, Buffer.from(text, 'utf16le')])
  }
  const isFirst = ([, form]: (typeof forms)[number], index: number): boolean =>
    forms.findIndex(([, other]) => other.equals(form)) === index
  return new Map(forms.filter(isFirst))
}

/** Of what is written in base64 together with its neighbours, only the middle is certain. */
function sureBase64(bytes: Uint8Array, shift: number): string {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  return whole.slice(shift === 0 ? 0 : 4, Math.floor(((shift + bytes.length) * 4) / 3))
}

/** The names of the forms that are found in the bytes. */
export function formsIn(bytes: Buffer, forms: ReadonlyMap<string, Buffer>): readonly string[] {
  return [...forms].flatMap(([name, form]) => (bytes.includes(form) ? [name] : []))
}

/** The names of the forms that are found in the memory of a process. */
export function formsInMemory(pid: number, forms: ReadonlyMap<string, Buffer>): readonly string[] {
  const missing = new Map(forms)
  readMemory(pid, (bytes) => {
    for (const name of formsIn(bytes, missing)) missing.delete(name)
  })
  return [...forms.keys()].filter((name) => !missing.has(name))
}
