/**
 * Completion for zsh. Pure.
 *
 * @module
 */
import { type CompletedCommand, type CompletedFlag, type Completions } from './completion-table.ts'

export function zshScript({ commands, first, groups }: Completions): string {
  const twoWords = commands.map(({ key }) => key).filter((key) => key.includes(' '))
  const listed = (list: readonly { readonly word: string; readonly about: string }[]): string =>
    list.map(({ word, about }) => described(word, about)).join(' ')
  return `#compdef ct-agent
# zsh completion for ct-agent: put it as _ct-agent into a folder of $fpath, or load it with
# source <(ct-agent completion zsh)
_ct_agent() {
  local key=$words[2] last=$words[CURRENT-1]
  local -a list
  if (( CURRENT == 2 )); then
    list=(${listed(first)})
    _describe -t commands command list
    return
  fi
  case "$words[2] $words[3]" in
    (${alternatives(twoWords)}) (( CURRENT > 3 )) && key="$words[2] $words[3]" ;;
  esac
  case "$key $last" in
${valueCases(commands).join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $key in
${commands.map(({ key, flags }) => `      ('${key}') list=(${flags.map(flagText).join(' ')}) ;;`).join('\n')}
    esac
    _describe -t options option list
    return
  fi
  if (( CURRENT == 3 )); then
    case $key in
${[...groups].map(([word, list]) => `      ('${word}') list=(${listed(list)}); _describe -t commands command list; return ;;`).join('\n')}
    esac
  fi
  case $key in
${operandCases(commands).join('\n')}
    (*) _files ;;
  esac
}

if [[ $funcstack[1] == _ct-agent ]]; then
  _ct_agent "$@"
else
  compdef _ct_agent ct-agent
fi`
}

function valueCases(commands: readonly CompletedCommand[]): readonly string[] {
  const cases = new Map<string, string[]>()
  for (const { key, flags } of commands) {
    for (const { flag, takes } of flags) {
      if (takes === 'nothing') continue
      const action = takes === 'file' ? '_files' : takes === 'text' ? '_message value' : `compadd -- ${takes.join(' ')}`
      cases.set(action, [...(cases.get(action) ?? []), `${key} ${flag}`])
    }
  }
  return [...cases].map(([action, patterns]) => `    (${alternatives(patterns)}) ${action}; return ;;`)
}

function operandCases(commands: readonly CompletedCommand[]): readonly string[] {
  const peers = commands.filter(({ operands }) => operands === 'peers').map(({ key }) => key)
  return [
    `    (${alternatives(peers)}) compadd -- \${(f)"$($words[1] completion peers 2>/dev/null)"} ;;`,
    ...commands.flatMap(({ key, operands }) =>
      typeof operands === 'string' ? [] : [`    ('${key}') compadd -- ${operands.join(' ')} ;;`],
    ),
  ]
}

function flagText({ flag, about }: CompletedFlag): string {
  return described(flag, about)
}

/** A colon ends the name. */
function described(name: string, about: string): string {
  return `'${name}:${about.replaceAll('\\', '\\\\').replaceAll(':', '\\:').replaceAll("'", "'\\''")}'`
}

function alternatives(patterns: readonly string[]): string {
  return patterns.map((pattern) => `'${pattern}'`).join('|')
}
