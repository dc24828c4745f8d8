/**
 * A property list for launchd. Pure.
 *
 * @module
 */
import { type ServiceFacts } from './service-facts.ts'

export const LAUNCHD_LABEL = 'ct-agent'
/** Not sooner after a start; launchd waits no longer when it goes on failing. */
const THROTTLE_SECONDS = 10
/** 077 in octal. */
const OWNER_ONLY_UMASK = 63

export function launchdPlist({ command, stateDir, folder, env, stopSeconds }: ServiceFacts): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    ...entry('Label', [string(LAUNCHD_LABEL)]),
    ...entry('ProgramArguments', ['<array>', ...command.map((word) => `  ${string(word)}`), '</array>']),
    ...entry(
      'EnvironmentVariables',
      dictionary(Object.entries(env).map(([name, value]) => entry(name, [string(value)]))),
    ),
    ...entry('WorkingDirectory', [string(folder)]),
    ...entry('RunAtLoad', ['<true/>']),
    ...entry('KeepAlive', dictionary([entry('SuccessfulExit', ['<false/>'])])),
    ...entry('ThrottleInterval', [integer(THROTTLE_SECONDS)]),
    ...entry('ExitTimeOut', [integer(stopSeconds)]),
    ...entry('ProcessType', [string('Background')]),
    ...entry('Umask', [integer(OWNER_ONLY_UMASK)]),
    ...entry('StandardOutPath', [string('/dev/null')]),
    ...entry('StandardErrorPath', [string(`${stateDir}/serve.log`)]),
    '</dict>',
    '</plist>',
  ].join('\n')
}

function entry(key: string, value: readonly string[]): readonly string[] {
  return [`  <key>${escaped(key)}</key>`, ...value.map((line) => `  ${line}`)]
}

function dictionary(entries: readonly (readonly string[])[]): readonly string[] {
  return ['<dict>', ...entries.flat(), '</dict>']
}

function string(text: string): string {
  return `<string>${escaped(text)}</string>`
}

function integer(value: number): string {
  return `<integer>${value}</integer>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
