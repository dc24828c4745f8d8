import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** Networks with NATs, storms of faults, bulk and floods: `npm run test:long`, some minutes. */
export default defineConfig({ test: { ...base.test, include: ['test/**/*.long.ts'] } })
