/**
 * The self-hosted relay, for agents that cannot stay reachable.
 *
 * @module
 */
export { type Operator, openOperator, operatorOf } from './operator.ts'
export { Refusal } from './refusal.ts'
export { openRelay, type Relay } from './relay.ts'
export type { DatabaseLocation } from './storage/location.ts'
