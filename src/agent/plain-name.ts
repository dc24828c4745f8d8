/**
 * The form of names that people give to members and peers.
 *
 * @module
 */

export const MAX_NAME_CHARS = 32
const FORM = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/

/** One word in lower case, of letters and digits with `.`, `_` and `-` between them; of any length. */
export function isPlainName(text: string): boolean {
  return FORM.test(text)
}
