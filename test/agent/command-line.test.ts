import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Command } from '../../src/agent/command.ts'
import { asksForHelp, findCommand, parseCommandLine } from '../../src/agent/command-line.ts'
import { COMMANDS } from '../../src/agent/commands.ts'
import { CtError, isCtError } from '../../src/core/errors.ts'

function command(words: string): Command {
  const found = findCommand(words.split(' '), COMMANDS)
  if (found === undefined) throw new TypeError(`no command ${words}`)
  return found
}

function parse(line: string) {
  const argv = line.split(' ')
  const found = findCommand(argv, COMMANDS)
  if (found === undefined) throw new TypeError(`no command in ${line}`)
  return parseCommandLine(found, argv)
}

function refusal(line: string): string {
  try {
    parse(line)
  } catch (error) {
    if (isCtError(error, 'ERR_USAGE')) return error.message
    throw error
  }
  throw new Error(`expected ${line} to be refused`)
}

describe('findCommand', () => {
  it('takes the longest command that fits', () => {
    expect(findCommand(['channel', 'init'], COMMANDS)?.words).toEqual(['channel', 'init'])
    expect(findCommand(['channel', 'x'], COMMANDS)?.words).toEqual(['channel'])
    expect(findCommand(['nothing'], COMMANDS)).toBeUndefined()
  })
})

describe('parseCommandLine', () => {
  it('turns flags into settings, switches into 1, and keeps the rest apart', () => {
    const line = parse('serve --listen 127.0.0.1:0 --handler=cat --services=a,b --once --json --drain 3')
    expect(line.overlay).toEqual({
      CT_CHANNEL_LISTEN: '127.0.0.1:0',
      CT_AGENT_SERVICE_HANDLER_CMD: 'cat',
      CT_AGENT_SERVICES: 'a,b',
      CT_CHANNEL_SERVE_ONCE: '1',
      CT_DRAIN_SECS: '3',
    })
    expect([...line.switches]).toEqual(['json'])
    expect(parse('call ct1 tool --input -').values).toEqual(new Map([['input', '-']]))
    expect(parse('call ct1 tool -').operands).toEqual(['ct1', 'tool', '-'])
    expect(parse('call -- ct1 --json').operands).toEqual(['ct1', '--json'])
  })

  const refusals: readonly (readonly [string, string])[] = [
    ['serve --lisen x', 'unrecognized flag "--lisen" of ct-agent serve; did you mean --listen?'],
    ['serve --jsn', 'unrecognized flag "--jsn" of ct-agent serve; did you mean --json?'],
    ['serve --xyzzy', 'unrecognized flag "--xyzzy" of ct-agent serve'],
    ['serve -x', 'unrecognized flag "-x" of ct-agent serve'],
    ['serve --json=yes', 'expected --json without a value, found "yes"'],
    ['serve --drain', 'expected a value after --drain'],
    ['serve --handler --once', 'expected a value after --handler, found "--once"; write --handler=… if meant'],
    ['serve extra', 'unrecognized argument "extra"; usage: ct-agent serve [-- <command of an MCP server>]'],
    ['call', 'expected at least 1 argument, found 0; usage: ct-agent call [<peer>] <tool> [arguments as JSON]'],
    ['call a b c d', 'unrecognized argument "d"; usage: ct-agent call [<peer>] <tool> [arguments as JSON]'],
    ['serve --allow=', 'expected a value after --allow, found ""'],
    ['call --input= ping', 'expected a value after --input, found ""'],
    ['serve --__proto__ x', 'unrecognized flag "--__proto__" of ct-agent serve'],
    ['offer fetch --units 3', 'expected --bid with --units, found none'],
    ['offer fetch --submit b.json --price=3', 'expected --bid with --price, found none'],
    ['call ct1 a --match m.json', 'expected --receipt with --match, found none'],
    ['call ct1 a --units 2', 'expected --receipt with --units, found none'],
    ['call ct1 a --receipt r.json', 'expected --match with --receipt, found none'],
    ['channel agent-card --verify', 'usage: ct-agent channel agent-card --verify <file>'],
    ['channel agent-card --verify=', 'usage: ct-agent channel agent-card --verify <file>'],
    ['channel agent-card --verify --card-out x', 'usage: ct-agent channel agent-card --verify <file>'],
    ['serve --no-json', 'unrecognized flag "--no-json" of ct-agent serve'],
  ]
  for (const [line, message] of refusals) {
    it(`refuses ${line} (W29)`, () => expect(refusal(line)).toBe(message))
  }

  const flags = COMMANDS.flatMap((found) =>
    found.rows.flatMap(({ flag, expects, keepBlank }) =>
      flag === undefined || expects === '1|0' ? [] : [{ found, flag, keepBlank }],
    ),
  )
  for (const { found, flag } of flags.filter(({ keepBlank }) => keepBlank === true)) {
    it(`takes a blank --${flag} of ${found.words.join(' ')} as it stands, as it does of the variable`, () => {
      const { overlay } = parseCommandLine(found, [...found.words, `--${flag}`, ''])
      expect(Object.values(overlay)).toEqual([''])
    })
  }

  it('takes a blank value of the flags of which the variable may be blank', () => {
    expect(new Set(flags.flatMap(({ flag, keepBlank }) => (keepBlank === true ? [flag] : [])))).toEqual(
      new Set(['pipeline', 'role', 'services']),
    )
  })

  it('lets flags of a bid stand with --bid, and those of a receipt with --receipt', () => {
    expect(parse('offer fetch ct1 --bid --units 3 --price 4').overlay).toEqual({ CT_BID_UNITS: '3', CT_BID_PRICE: '4' })
    expect([...parse('call ct1 a --receipt - --match - --units 1').values.keys()]).toEqual([
      'receipt',
      'match',
      'units',
    ])
  })

  it('keeps what is given several times, in order, where a flag may be', () => {
    const { lists, values } = parse('call bob a --arg x=1 --arg y:=2 --arg x=1 --input f')
    expect([...lists]).toEqual([['arg', ['x=1', 'y:=2', 'x=1']]])
    expect([...values]).toEqual([['input', 'f']])
  })

  it('has --json in all commands but those of channel, and those that print nothing or nothing else', () => {
    const without = COMMANDS.filter(({ options }) => !options.some(({ name }) => name === 'json'))
    const others = without.filter(({ words: [first] }) => first !== 'channel')
    expect(others.map(({ words }) => words.join(' ')).toSorted()).toEqual([
      'audit show',
      'completion',
      'demo',
      'mcp',
      'service print',
    ])
  })

  for (const { found, flag } of flags.filter(({ keepBlank }) => keepBlank !== true)) {
    it(`refuses a blank --${flag} of ${found.words.join(' ')}, such as one from an unset variable`, () => {
      for (const blank of ['', ' ', '\n']) {
        expect(() => parseCommandLine(found, [...found.words, `--${flag}`, blank])).toThrow(
          `expected a value after --${flag}, found `,
        )
      }
    })
  }

  const words = fc.oneof(
    fc.string(),
    fc.string().map((text) => `--${text}`),
    fc.constantFrom(
      '--',
      '-',
      '-h',
      '--json',
      '--json=',
      '--listen',
      '--listen=',
      '--input',
      '--__proto__',
      '-1',
      '=',
      '--=',
    ),
  )

  it('refuses any line with ERR_USAGE alone, or accepts every word of it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...COMMANDS), fc.array(words, { maxLength: 6 }), (found, rest) => {
        try {
          const { operands, overlay, values, switches } = parseCommandLine(found, [...found.words, ...rest])
          expect(operands.length).toBeGreaterThanOrEqual(found.arity[0])
          expect(operands.length).toBeLessThanOrEqual(found.arity[1])
          const kept = operands.length + Object.keys(overlay).length + values.size + switches.size
          expect(kept).toBeLessThanOrEqual(rest.length)
          for (const word of operands) expect(rest).toContain(word)
        } catch (error) {
          if (!(error instanceof CtError) || error.code !== 'ERR_USAGE') throw error
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('names the flag that is one letter away', () => {
    const flags = COMMANDS.flatMap((found) =>
      [...found.rows.flatMap(({ flag }) => flag ?? []), ...found.options.map(({ name }) => name)].map((flag) => ({
        found,
        flag,
      })),
    )
    fc.assert(
      fc.property(fc.constantFrom(...flags), fc.nat(), ({ found, flag }, at) => {
        const place = at % flag.length
        fc.pre(flag[place] !== 'q')
        const typo = `${flag.slice(0, place)}q${flag.slice(place + 1)}`
        expect(() => parseCommandLine(found, [...found.words, `--${typo}`])).toThrow(`did you mean --${flag}?`)
      }),
    )
  })
})

describe('asksForHelp', () => {
  it('looks no further than --', () => {
    expect(asksForHelp(['call', '--help'])).toBe(true)
    expect(asksForHelp(['call', '--', '-h'])).toBe(false)
    expect(command('serve').exits).toBe(false)
  })
})
