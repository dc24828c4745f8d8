/**
 * Texts by which a peer asks a seller for something: a bid, or a signature under a receipt.
 *
 * Holds: what is longer than any honest request is refused before anything is read of it.
 *
 * @module
 */
import { type ExactJson, type ExactObject, malformed, parseExactJson, writeExactJson } from '../core/exact-json.ts'
import { isExactObject, own } from '../core/json-shape.ts'

/** Enough for a model's and a service's name of any sensible length. */
export const MAX_REQUEST_CHARS = 16_384

/** The member of the object that the text is; `undefined` for another text that is JSON. @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function readRequest(text: string, name: string, member: string): ExactJson | undefined {
  refuseLong(text, name)
  const value = parseExactJson(text, name)
  return isExactObject(value) ? own(value, member) : undefined
}

/** Refuses what is too long to be asked for. @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function refuseLongRequest(member: string, artefact: ExactObject, name: string): void {
  refuseLong(writeExactJson({ [member]: artefact }), name)
}

function refuseLong(text: string, name: string): void {
  if (text.length > MAX_REQUEST_CHARS) {
    throw malformed(`${name}: expected at most ${MAX_REQUEST_CHARS} characters, found ${text.length}`)
  }
}
