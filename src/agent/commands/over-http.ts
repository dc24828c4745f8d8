/**
 * The commands that speak HTTP. No other command loads Node's part for that, which takes long and much memory.
 *
 * @module
 */
export { doctor } from './doctor.ts'
export { gateway } from './gateway.ts'
