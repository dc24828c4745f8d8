/**
 * The folder of remembered peers: one file each, named as the peer.
 *
 * Holds: of two processes that take a name at once one gets it. A change is made to what the file holds at that moment,
 * so a process that learnt of an address does not undo another's renewal; a peer that was forgotten meanwhile stays so.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { didYouMean } from '../../core/nearest.ts'
import {
  createSecretFile,
  readSecretFile,
  removeSecretFile,
  renameSecretFile,
  secretFilesIn,
  writeSecretFile,
} from '../../core/secret-file.ts'
import { type Peer } from './peer.ts'
import { parsePeer, peerText } from './peer-file.ts'
import { type PeerName, parsePeerName } from './peer-name.ts'

/** Far more than anybody names; each is a file that is read when a ticket is given. */
export const MAX_PEERS = 1_000

export interface NamedPeer<Some extends Peer = Peer> {
  readonly name: PeerName
  readonly peer: Some
}

export interface PeerList {
  readonly peers: readonly NamedPeer[]
  /** Files that hold no peer. */
  readonly problems: readonly CtError[]
}

const ENDING = '.json'

export class PeerStore {
  readonly #folder: string

  constructor(stateDir: string) {
    this.#folder = `${stateDir}/peers`
  }

  /** In the order of their names. @throws {CtError} `ERR_STATE_UNAVAILABLE` when the folder cannot be read */
  list(): PeerList {
    const problems: CtError[] = []
    const peers = this.#names().flatMap((name) => {
      try {
        const peer = this.find(name)
        return peer === undefined ? [] : [{ name, peer }]
      } catch (error) {
        if (!(error instanceof CtError)) throw error
        problems.push(error)
        return []
      }
    })
    return { peers, problems }
  }

  /** @throws {CtError} `ERR_STATE_UNAVAILABLE` when its file holds something else */
  find(name: PeerName): Peer | undefined {
    const path = this.#path(name)
    const content = readSecretFile(path)
    if (content === undefined) return undefined
    const parsed = parsePeer(content)
    if ('value' in parsed) return parsed.value
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot use ${path}: ${parsed.problem}`, { detail: { path } })
  }

  /** @throws {CtError} `ERR_PEER_UNKNOWN` with the nearest name, `ERR_STATE_UNAVAILABLE` */
  get(name: PeerName): Peer {
    const peer = this.find(name)
    if (peer !== undefined) return peer
    throw new CtError('ERR_PEER_UNKNOWN', `no peer is called ${quote(name)}${didYouMean(name, this.#names())}`)
  }

  /** The first of them. Files that hold no peer are passed over. */
  search<Some extends Peer>(isWanted: (peer: Peer) => peer is Some): NamedPeer<Some> | undefined {
    for (const { name, peer } of this.list().peers) if (isWanted(peer)) return { name, peer }
    return undefined
  }

  /** Remembers a new peer; false when the name stands for something else. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
  add(name: PeerName, peer: Peer): boolean {
    if (this.#names().length >= MAX_PEERS) {
      throw new CtError(
        'ERR_STATE_UNAVAILABLE',
        `expected at most ${MAX_PEERS} peers in ${this.#folder}, found as many`,
      )
    }
    const text = peerText(peer)
    return createSecretFile(this.#path(name), text, generateInstanceId()) === text
  }

  /**
   * Changes what is remembered, if anything is and it changes.
   *
   * @returns what is remembered now
   * @throws {CtError} `ERR_STATE_UNAVAILABLE`
   */
  change(name: PeerName, change: (peer: Peer) => Peer): Peer | undefined {
    const before = this.find(name)
    if (before === undefined) return undefined
    const after = change(before)
    const text = peerText(after)
    if (text !== peerText(before)) writeSecretFile(this.#path(name), text, generateInstanceId())
    return after
  }

  /** @throws {CtError} `ERR_PEER_UNKNOWN`, `ERR_PEER_NAME_TAKEN`, `ERR_STATE_UNAVAILABLE` */
  rename(from: PeerName, to: PeerName): void {
    if (from === to) this.get(from)
    else if (this.#move(from, to) === 'missing') this.get(from)
  }

  /** Also a file that holds no peer. @throws {CtError} `ERR_PEER_UNKNOWN`, `ERR_STATE_UNAVAILABLE` */
  forget(name: PeerName): void {
    if (!removeSecretFile(this.#path(name))) this.get(name)
  }

  #move(from: PeerName, to: PeerName): 'renamed' | 'missing' {
    const outcome = renameSecretFile(this.#path(from), this.#path(to))
    if (outcome !== 'taken') return outcome
    throw nameTaken(to)
  }

  #names(): readonly PeerName[] {
    return secretFilesIn(this.#folder, ENDING)
      .flatMap((text) => {
        const parsed = parsePeerName(text)
        return 'value' in parsed && parsed.value === text ? [parsed.value] : []
      })
      .slice(0, MAX_PEERS)
  }

  #path(name: PeerName): string {
    return `${this.#folder}/${name}${ENDING}`
  }
}

export function nameTaken(name: PeerName): CtError {
  return new CtError('ERR_PEER_NAME_TAKEN', `another peer is called ${quote(name)}`)
}
