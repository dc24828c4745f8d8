/**
 * Completion for fish. Pure.
 *
 * @module
 */
import { type CompletedCommand, type CompletedFlag, type Completions } from './completion-table.ts'

export function fishScript({ commands, first, groups }: Completions): string {
  const twoWords = commands.map(({ key }) => key).filter((key) => key.includes(' '))
  return [
    `# fish completion for ct-agent; load it with: ct-agent completion fish | source
function __ct_agent_key
    set -l given (commandline -opc) '' ''
    if contains -- "$given[2] $given[3]" ${twoWords.map(quoted).join(' ')}
        echo "$given[2] $given[3]"
    else
        echo "$given[2]"
    end
end
function __ct_agent_count
    count (commandline -opc)
end
complete -c ct-agent -f`,
    ...first.map(
      ({ word, about }) => `complete -c ct-agent -n 'test (__ct_agent_count) -eq 1' -a ${word} -d ${quoted(about)}`,
    ),
    ...[...groups].flatMap(([group, list]) =>
      list.map(({ word, about }) => {
        const isNext = `test (__ct_agent_key) = ${group}; and test (__ct_agent_count) -eq 2`
        return `complete -c ct-agent -n ${quoted(isNext)} -a ${word} -d ${quoted(about)}`
      }),
    ),
    ...commands.flatMap(ofCommand),
  ].join('\n')
}

function ofCommand({ key, flags, operands }: CompletedCommand): readonly string[] {
  const here = `complete -c ct-agent -n ${quoted(`test (__ct_agent_key) = '${key}'`)}`
  const given =
    operands === 'peers'
      ? `${here} -a '(ct-agent completion peers 2>/dev/null)' -d peer`
      : operands === 'files'
        ? `${here} -F`
        : `${here} -a ${quoted(operands.join(' '))}`
  return [given, ...flags.map((flag) => `${here} ${flagText(flag)}`)]
}

function flagText({ flag, about, takes }: CompletedFlag): string {
  const value =
    takes === 'nothing'
      ? ''
      : takes === 'file'
        ? ' -r -F'
        : takes === 'text'
          ? ' -x'
          : ` -x -a ${quoted(takes.join(' '))}`
  return `-l ${flag.slice(2)}${value} -d ${quoted(about)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
