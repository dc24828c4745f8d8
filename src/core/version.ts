/**
 * The program's version, as package.json states it.
 *
 * @module
 */
import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
