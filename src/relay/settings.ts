/**
 * What an operator may set.
 *
 * @module
 */

export interface RelaySettings {
  /** Where people and programs reach the relay: an origin without a slash at the end. */
  readonly publicUrl: string
}
