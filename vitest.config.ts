import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Where `.ci/run` asks for the JSON report; a path of its own keeps parallel runs apart. */
const report = process.env['VITEST_REPORT'] ?? join(tmpdir(), `ct-agent-test-${process.pid}.json`)

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build-once.ts'],
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    pool: 'forks',
    // Tests share a process, one file after the other: starting one for each file took a quarter of the time.
    isolate: false,
    maxWorkers: 2,
    retry: 0,
    testTimeout: 15_000,
    hookTimeout: 15_000,
    teardownTimeout: 5_000,
  },
})
