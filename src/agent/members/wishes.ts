/**
 * What the command line says of an invitation or a member.
 *
 * @module
 */
import { INVITE_ENV } from '../../channel/config.ts'
import { parseInteger, parseList, quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Parsed } from '../../core/ids.ts'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { type U64, u64 } from '../../core/u64.ts'
import { MAX_NAME_CHARS } from '../plain-name.ts'
import { parseDuration } from './duration.ts'
import { type Wish } from './inviting.ts'
import { isMemberName } from './member-name.ts'
import { type Change } from './removing.ts'
import { MAX_TOOLS, MAX_USES } from './roster.ts'

type Flags = ReadonlyMap<string, string>

/** What leaks is worth nothing after this at the latest. */
const MAX_INVITATION_SECONDS = 365 * SECONDS_PER_DAY
/** As long as the grant of a member holds, unless told otherwise. */
const OVERLAP = u64(30 * SECONDS_PER_DAY)
const MAX_OVERLAP_SECONDS = 366 * SECONDS_PER_DAY
const MAX_TOOL_CHARS = 200
/** All tools, those that come later too. */
const ALL_TOOLS = '*'

/** @param served tools of the serving agent, as far as known @throws {CtError} `ERR_USAGE` */
export function readWish(flags: Flags, served: readonly string[]): Wish {
  const { rights = 'rw', tools, name } = readChange(flags, served)
  return {
    uses: read(flags, 'uses', parseInteger(1, MAX_USES)) ?? 1,
    seconds: read(flags, 'expires', (text) => parseDuration(text, MAX_INVITATION_SECONDS)) ?? DAY,
    rights,
    tools,
    name,
  }
}

/** How long what an old key signed still counts. @throws {CtError} `ERR_USAGE` */
export function readOverlap(flags: Flags): U64 {
  return read(flags, 'overlap', (text) => parseDuration(text, MAX_OVERLAP_SECONDS)) ?? OVERLAP
}

/** @throws {CtError} `ERR_USAGE` */
export function readChange(flags: Flags, served: readonly string[]): Change {
  const rights = read(flags, 'rights', INVITE_ENV.rights.parse)
  const tools = read(flags, 'tools', (text) => parseTools(text, served))
  const name = read(flags, 'name', parseName)
  return {
    ...(rights === undefined ? {} : { rights }),
    ...(tools === undefined ? {} : { tools: tools === ALL_TOOLS ? undefined : tools }),
    ...(name === undefined ? {} : { name }),
  }
}

/** Those that the serving agent did not serve when it was started: a mistake, most likely. */
export function unservedTools(tools: readonly string[] | undefined, served: readonly string[]): readonly string[] {
  return (tools ?? []).filter((tool) => !served.includes(tool))
}

function read<Value>(flags: Flags, name: string, parse: (text: string) => Parsed<Value>): Value | undefined {
  const text = flags.get(name)
  if (text === undefined) return undefined
  const parsed = parse(text)
  if ('problem' in parsed) throw new CtError('ERR_USAGE', `--${name}: ${parsed.problem}`)
  return parsed.value
}

/** Names as peers see them; of a service, its slug will do. */
function parseTools(text: string, served: readonly string[]): Parsed<readonly string[] | typeof ALL_TOOLS> {
  if (text.trim() === ALL_TOOLS) return { value: ALL_TOOLS }
  const parsed = parseList(text)
  const names = 'value' in parsed ? [...new Set(parsed.value)] : []
  if (names.length === 0 || names.length > MAX_TOOLS) {
    return { problem: `expected 1 to ${MAX_TOOLS} names of tools, found ${names.length}` }
  }
  const malformed = names.find((name) => name.length > MAX_TOOL_CHARS || !/^[\x21-\x7e]+$/.test(name))
  if (malformed !== undefined) return { problem: `expected names of tools, found ${quote(malformed)}` }
  return { value: names.map((name) => (served.includes(name) ? name : (serviceOf(name, served) ?? name))) }
}

function serviceOf(slug: string, served: readonly string[]): string | undefined {
  return served.find((tool) => tool === `service/${slug}`)
}

function parseName(text: string): Parsed<string> {
  const name = text.trim().toLowerCase()
  if (isMemberName(name)) return { value: name }
  const form = `a name of at most ${MAX_NAME_CHARS} letters a to z, digits and . _ - between them, which is no key`
  return { problem: `expected ${form}, found ${quote(text)}` }
}

const DAY = u64(SECONDS_PER_DAY)
