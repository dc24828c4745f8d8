/**
 * Bytes in several arrays, so that large ones need not be copied to stand behind one another.
 *
 * @module
 */

/** From here on, a part is handed on as it is: copying it costs more than another call. */
const LARGE_BYTES = 8 * 1024

/** The same bytes with neighbouring small parts joined; large parts are not copied. */
export function joinSmall(parts: Iterable<Uint8Array>): readonly Uint8Array[] {
  const joined: Uint8Array[] = []
  let small: Uint8Array[] = []
  const flush = (): void => {
    const [only] = small
    if (only !== undefined) joined.push(small.length === 1 ? only : Buffer.concat(small))
    small = []
  }
  for (const part of parts) {
    if (part.length < LARGE_BYTES) {
      small.push(part)
    } else {
      flush()
      joined.push(part)
    }
  }
  flush()
  return joined
}
