import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** What may start a program, and which one. */
const STARTERS: Readonly<Record<string, string>> = {
  'src/agent/commands/demo.ts': 'itself',
  'src/agent/doctor/handler-check.ts': 'a shell that reads the command in the settings',
  'src/agent/doctor/server-check.ts': 'the server in the settings',
  'src/mcp/programs/process-group.ts': 'the handler or the server in the settings',
}

it('what a peer or a broker says starts no program and opens no page: few files can, and what they start is in the settings', () => {
  const found = globSync('{bin,src}/**/*.ts').filter((path) =>
    // Types alone start nothing.
    readFileSync(path, 'utf8')
      .split('\n')
      .some(
        (line) =>
          /child_process|node:cluster|node:worker_threads/.test(line) && !/^import \{( type \w+,?)+ \} from/.test(line),
      ),
  )
  expect(found.toSorted()).toEqual(Object.keys(STARTERS))
})
