import { defineConfig } from 'vitest/config'
import { postgresFolder } from './test/relay/postgres.ts'
import base from './vitest.config.ts'

const long = { test: { ...base.test, name: 'long', include: ['test/**/*.long.ts'] } }

/** The relay's tests once more, on PostgreSQL, where it is installed. */
const onPostgres = {
  test: {
    ...base.test,
    name: 'postgres',
    include: ['test/relay/**/*.test.ts'],
    globalSetup: ['test/build-once.ts', 'test/relay/postgres.ts'],
  },
}

const hasPostgres = postgresFolder() !== undefined
if (!hasPostgres) process.stderr.write('PostgreSQL is not installed: the tests of the relay run on files only\n')

/** Networks with NATs, storms of faults, bulk, floods and the other database: `npm run test:long`, some minutes. */
export default defineConfig({
  // Projects would add what the whole includes to their own.
  test: { ...base.test, include: [], projects: hasPostgres ? [long, onPostgres] : [long] },
})
