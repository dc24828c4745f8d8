/**
 * `docs/artefacts.md` as data: its examples, the rows of its tables, and the bytes that its tables say are signed.
 *
 * Holds: the bytes are made of the document alone, by none of the code that it describes.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { type ExactJson, type ExactObject, parseExactJson } from '../src/core/exact-json.ts'

export const document = readFileSync(new URL('../docs/artefacts.md', import.meta.url), 'utf8')

const examples = new Map(
  [...document.matchAll(/^```(hex|json|text) (\S+)\n(.*?)^```/gms)].map(([, kind, name = '', body = '']) => [
    name,
    kind === 'hex' ? body.replace(/#.*$/gm, '').replace(/\s/g, '') : body.trim(),
  ]),
)
const unused = new Set(examples.keys())

/** Hex digits, JSON or text. */
export function example(name: string): string {
  unused.delete(name)
  return examples.get(name) ?? `no example ${name}`
}

export function bytesIn(name: string): Buffer {
  return Buffer.from(example(name), 'hex')
}

export function objectIn(name: string): ExactObject {
  return parseExactJson(example(name), name) as ExactObject
}

/** Names of examples that nobody asked for so far. */
export function unusedExamples(): readonly string[] {
  return [...unused]
}

/** Cells of all rows below a heading whose first cell is in backquotes, without those. */
export function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = document.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [own = ''] = section.split(/^#/m)
  return [...own.matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)].map(([, key = '', cells = '']) => [
    key,
    ...cells.split('|').map((cell) => cell.trim()),
  ])
}

/** Values of all tables by the name in their first column. */
export const values = new Map(
  [...document.matchAll(/^\| `([^`]+)` \| ([^|]+?) \|/gm)].map(([, key = '', value = '']) => [key, value] as const),
)

export function domainBytes(domain: string): Buffer {
  const form = values.get(domain)
  if (form !== 'framed' && form !== 'bare') throw new RangeError(`expected a form of ${domain}, found ${form}`)
  return form === 'framed' ? (encoders['text']?.(domain) ?? Buffer.alloc(0)) : Buffer.from(domain)
}

/** What the table below the heading says is signed of an object. */
export function fieldBytes(heading: string, object: ExactObject): Buffer {
  const fields = rowsOf(heading).filter(([, how]) => how !== '–')
  return Buffer.concat(fields.map(([member = '', how = '']) => encode(how, object[member])))
}

function encode(how: string, value: ExactJson | undefined): Buffer {
  const [, item] = /^list of (.+)$/.exec(how) ?? []
  if (item !== undefined) {
    const items = value as readonly ExactJson[]
    return Buffer.concat([u32(items.length), ...items.map((each) => encode(item, each))])
  }
  const encoder = encoders[how]
  if (encoder === undefined) throw new RangeError(`expected a way to sign, found ${how}`)
  return encoder(value)
}

const encoders: Readonly<Record<string, (value: ExactJson | undefined) => Buffer>> = {
  id: (value) => Buffer.from(String(value), 'hex'),
  u64: (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(value as bigint)
    return bytes
  },
  text: (value) => Buffer.concat([u32(Buffer.byteLength(String(value))), Buffer.from(String(value))]),
  kind: (value) => Buffer.of(tagIn(/A kind is a tag: (.*?)\. /s, value)),
  decision: (value) => Buffer.of(tagIn(/A decision is a tag: (.*?)\.\n/s, value)),
  skill: (value) => {
    const { id, description, examples: shown } = value as ExactObject
    return Buffer.concat([encode('text', id), encode('text', description), encode('list of text', shown)])
  },
  service: (value) => {
    if (typeof value === 'string') return Buffer.of(Number(values.get(JSON.stringify(value))))
    return Buffer.concat([Buffer.of(4), encode('text', (value as ExactObject)['Custom'])])
  },
  'optional service': (value) =>
    value === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), encode('service', value)]),
}

/** The number that a sentence of the document gives to the word. */
function tagIn(sentence: RegExp, word: ExactJson | undefined): number {
  const [, list = ''] = sentence.exec(document) ?? []
  const [, tag] = new RegExp(`(\\d+) for \`${String(word)}\``).exec(list) ?? []
  return Number(tag)
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
