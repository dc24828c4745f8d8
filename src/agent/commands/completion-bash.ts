/**
 * Completion for bash. Pure.
 *
 * @module
 */
import { type CompletedCommand, type Completions } from './completion-table.ts'

export function bashScript({ commands, first, groups }: Completions): string {
  const twoWords = commands.map(({ key }) => key).filter((key) => key.includes(' '))
  const words = (list: readonly { readonly word: string }[]): string => list.map(({ word }) => word).join(' ')
  return `# bash completion for ct-agent; load it with: source <(ct-agent completion bash)
_ct_agent_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_ct_agent() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} key=\${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _ct_agent_words '${words(first)} --help --version'
    return
  fi
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
    ${alternatives(twoWords)}) ((COMP_CWORD > 2)) && key="\${COMP_WORDS[1]} \${COMP_WORDS[2]}" ;;
  esac
  case "$key $prev" in
${valueCases(commands).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case "$key" in
${commands.map(({ key, flags }) => `      '${key}') _ct_agent_words '${flags.map(({ flag }) => flag).join(' ')}' ;;`).join('\n')}
    esac
    return
  fi
  if ((COMP_CWORD == 2)); then
    case "$key" in
${[...groups].map(([word, list]) => `      ${word}) _ct_agent_words '${words(list)}' && return ;;`).join('\n')}
    esac
  fi
  case "$key" in
${operandCases(commands).join('\n')}
  esac
}

complete -o default -F _ct_agent ct-agent`
}

/** What follows a flag that takes a value. */
function valueCases(commands: readonly CompletedCommand[]): readonly string[] {
  const cases = new Map<string, string[]>()
  for (const { key, flags } of commands) {
    for (const { flag, takes } of flags) {
      if (takes === 'nothing') continue
      const action =
        takes === 'file'
          ? 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")'
          : takes === 'text'
            ? 'compopt +o default'
            : `_ct_agent_words '${takes.join(' ')}'`
      cases.set(action, [...(cases.get(action) ?? []), `${key} ${flag}`])
    }
  }
  return [...cases].map(
    ([action, patterns]) => `    ${alternatives(patterns)})\n      ${action}\n      return\n      ;;`,
  )
}

function operandCases(commands: readonly CompletedCommand[]): readonly string[] {
  const peers = commands.filter(({ operands }) => operands === 'peers').map(({ key }) => key)
  return [
    `    ${alternatives(peers)}) _ct_agent_words "$("\${COMP_WORDS[0]}" completion peers 2>/dev/null)" ;;`,
    ...commands.flatMap(({ key, operands }) =>
      typeof operands === 'string' ? [] : [`    '${key}') _ct_agent_words '${operands.join(' ')}' ;;`],
    ),
  ]
}

function alternatives(patterns: readonly string[]): string {
  return patterns.map((pattern) => `'${pattern}'`).join(' | ')
}
