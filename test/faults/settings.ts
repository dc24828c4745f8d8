/**
 * What whoever starts the tests may set.
 *
 * @module
 */
// biome-ignore-start lint/style/noProcessEnv: a run of the tests has no other settings
/** Repeats the schedule of a storm that went wrong. */
export const SEED = Number(process.env['CT_TEST_SEED'] ?? Date.now() % 1_000_000)

/** What soaks find is kept for docs/benchmarks.md. */
export const PUBLISHES = (process.env['SOAK_PUBLISH'] ?? '') !== ''
// biome-ignore-end lint/style/noProcessEnv: a run of the tests has no other settings
