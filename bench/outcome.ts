/**
 * What became of messages that were offered to a peer that does not read.
 *
 * @module
 */
export interface Outcome {
  /** Growth of resident memory at its highest, in bytes. */
  readonly gainedBytes: number
  /** Code of the error that the offers ended with; empty when all were taken. */
  readonly code: string
  readonly milliseconds: number
}
