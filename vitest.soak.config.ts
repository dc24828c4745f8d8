import { defineConfig } from 'vitest/config'

/** Long runs against real processes: `npm run soak`, never part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.soak.ts'],
    globalSetup: ['test/build-once.ts'],
    pool: 'forks',
    maxWorkers: 1,
    retry: 0,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
