/**
 * Columns below each other, for people.
 *
 * @module
 */

const GAP = '  '
const NO_NUMBERS: ReadonlySet<number> = new Set()

/**
 * One line a row, as wide as the widest cell of each column; all rows have as many cells as the first.
 *
 * @param numbers columns that end below each other instead of beginning there
 */
export function tableLines(rows: readonly (readonly string[])[], numbers = NO_NUMBERS): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  )
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0
      return numbers.has(column) ? cell.padStart(width) : cell.padEnd(width)
    })
    return cells.join(GAP).trimEnd()
  })
}
