/**
 * The nearest known word to an unknown one, for "did you mean".
 *
 * @module
 */

/** The closest candidate within a third of its length in edits; `undefined` when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = editDistance(word.slice(0, MAX_WORD_CHARS), candidate)
    if (distance < bestDistance && distance <= Math.max(1, Math.ceil(candidate.length / 3))) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** For the end of a message; nothing when no candidate is close. @param form how a word is shown */
export function didYouMean(
  word: string,
  candidates: Iterable<string>,
  form = (close: string): string => close,
): string {
  const close = nearest(word, candidates)
  return close === undefined ? '' : `; did you mean ${form(close)}?`
}

/** Longer words are compared by their beginning: the cost is quadratic. */
const MAX_WORD_CHARS = 64

/** Insertions, deletions and substitutions that turn one word into the other. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
