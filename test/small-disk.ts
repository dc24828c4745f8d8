/**
 * A disk so small that a test can fill it.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** False where nothing can be mounted; tests of full disks are then skipped. */
export function canMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'ct-mount-'))
  const works = process.getuid?.() === 0 && mount(at)
  if (works) spawnSync('umount', [at])
  rmSync(at, { recursive: true, force: true })
  return works
}

/** A disk at the folder, until it is unmounted. */
export class SmallDisk {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    if (!mount(folder)) throw new Error(`expected to mount a disk at ${folder}, found that it cannot be done`)
  }

  fill(): void {
    spawnSync('sh', ['-c', 'cat /dev/zero >"$0"', this.#filler])
  }

  free(): void {
    rmSync(this.#filler)
  }

  /** Also while a process that was killed is not wholly gone. */
  unmount(): void {
    execFileSync('umount', ['-l', this.#folder])
  }

  get #filler(): string {
    return join(this.#folder, 'filler')
  }
}

function mount(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', folder]).status === 0
}
