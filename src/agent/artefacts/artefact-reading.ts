/**
 * A signed artefact as the commands that verify and show one see it, whatever kind it is.
 *
 * @module
 */
import { type OpenOptions, type SigningForm } from '../../core/artefact.ts'
import { type ExactObject } from '../../core/exact-json.ts'
import { type Field } from './shown-fields.ts'

export type CheckOptions = Omit<OpenOptions, 'signer'>

/** What is known once the signatures and the time are checked. */
export interface Checked {
  readonly form: SigningForm | 'a2a'
  /** For programs: who signed, until when it holds. */
  readonly facts: ExactObject
  /** The same and more on one line for people and scripts. */
  readonly line: string
}

/** An artefact that was read and not yet checked. */
export interface Reading {
  readonly json: ExactObject
  readonly fields: () => readonly Field[]
  /** @throws {CtError} as {@link OpenOptions} have it */
  readonly check: (options: CheckOptions) => Checked | Promise<Checked>
}

export interface ArtefactReader {
  /** Such as `agent card`. */
  readonly name: string
  /** @throws {CtError} `ERR_ARTEFACT_INVALID` */
  readonly read: (text: string) => Reading
}
