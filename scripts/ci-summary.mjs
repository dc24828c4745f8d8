/**
 * Prints the counts of a Vitest JSON report as `N passed, N failed[, N skipped]`.
 *
 * @module
 */
import { readFileSync } from 'node:fs'

const [path = ''] = process.argv.slice(2)
/** @type {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
const report = JSON.parse(readFileSync(path, 'utf8'))

/** A file that cannot be loaded has no failed test of its own, and is a failure all the same. */
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
).length
const failed = report.numFailedTests + brokenFiles
const skipped = report.numPendingTests + report.numTodoTests
console.log(`${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
