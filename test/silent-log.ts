import { type Log } from '../src/core/log.ts'

/** Drops everything. */
export const silentLog: Log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
