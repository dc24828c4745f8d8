/**
 * The licences of everything that ends up in the bundle, as one text.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {string} root folder that the input paths are relative to
 * @param {readonly string[]} inputs paths of bundled files
 * @returns {string}
 */
export function noticesOf(root, inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined))
  const entries = [...folders].sort().map((folder) => noticeOf(join(root, folder)))
  const head = 'ct-agent contains the following packages, each under the licence printed below it.\n'
  return [head, ...new Set(entries)].join(`\n${'-'.repeat(80)}\n\n`)
}

/** @param {string} input */
function packageFolder(input) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0]
}

/** @param {string} folder */
function noticeOf(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|notice)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())
  return `${[`${manifest.name} ${manifest.version} (${manifest.license})`, ...texts].join('\n\n')}\n`
}
