/**
 * What a session is made with, and what it knows of its peer.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId, type InstanceId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type Membership } from '../membership/credentials.ts'
import { type Hello } from './hello.ts'

export interface SessionOptions {
  readonly peer: HolderId
  readonly local: Hello
  /** The dialler greets at once; the other side says nothing to a stranger before it is admitted. */
  readonly greetsFirst: boolean
  /** Checks the peer's hello; an error refuses the session with its code and message, a membership is all it lasts. */
  readonly admit: (hello: Hello) => CtError | Membership | undefined
  /** The peer is not known before its hello: until then, no message leaves. */
  readonly holdsBack?: boolean
  readonly clock: Clock
}

export interface SessionPeer {
  readonly holder: HolderId
  /** Its run, if it will send tagged calls and has sent none before. */
  readonly freshRun?: InstanceId
  /** Of its program that has this session, and had those before it that this one goes on from. */
  readonly run?: InstanceId
  /** Where it is admitted as a member of a channel; the session ends with it. */
  readonly membership?: Membership
}
