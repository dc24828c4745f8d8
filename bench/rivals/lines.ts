/**
 * Cuts received text into lines.
 *
 * @module
 */
export function lineSplitter(onLine: (line: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
