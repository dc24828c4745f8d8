/**
 * Text from elsewhere, made fit to show: nothing in it can move a cursor, hide, reorder, or end the line it stands in.
 *
 * Holds: what is taken out leaves a mark, a blank or an escape, and no text is joined over the gap. Otherwise two halves
 * of a character could meet that were harmless apart, and names that look the same could differ.
 *
 * @module
 */

// C0, DEL, C1 | bidi controls, zero width, BOM, tags | halves of surrogate pairs | line and paragraph separators |
// what else is drawn as nothing, such as fillers and variation selectors.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const UNPRINTABLE_RUNS = new RegExp(`${UNPRINTABLE.source}+`, 'gu')

/** The text on one line, with a blank for every run of unprintable characters, cut to at most `maxChars` (at least 1). */
export function printable(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text
  return cut.replace(UNPRINTABLE_RUNS, ' ').trim()
}

/** The text with `\uXXXX` for every unprintable character: what was JSON is still the same JSON, if on one line. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, escapeUnits)
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}
