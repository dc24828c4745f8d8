/**
 * Prints the counts of Vitest JSON reports, added up, as `N passed, N failed[, N skipped]`.
 *
 * @module
 */
import { readFileSync } from 'node:fs'

/** @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} Report */

const counts = process.argv.slice(2).map((path) => {
  /** @type {Report} */
  const report = JSON.parse(readFileSync(path, 'utf8'))
  // A file that cannot be loaded has no failed test of its own, and is a failure all the same.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles,
    skipped: report.numPendingTests + report.numTodoTests,
  }
})

/** @param {'passed' | 'failed' | 'skipped'} kind */
const sum = (kind) => counts.reduce((total, count) => total + count[kind], 0)
console.log(
  `${sum('passed')} passed, ${sum('failed')} failed${sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : ''}`,
)
