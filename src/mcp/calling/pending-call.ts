/**
 * A call of a caller that outlives its links, until it ends.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type Answer } from '../wire/answer.ts'
import { type Params, requestText } from '../wire/envelope.ts'
import { withProgressToken } from '../wire/progress.ts'
import { type OnProgress } from './client.ts'

export interface Pending {
  sequence: number
  readonly method: string
  readonly params: Params
  /** Made once a number: what is sent again must be the same to the byte. */
  text: string
  /** Hears how far it is; the token is the number. */
  readonly onProgress: OnProgress | undefined
  /** The peer may have it. */
  sent: boolean
  /** Resolves when nothing more comes of the link that it was sent on last. */
  sending?: Promise<void>
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: CtError) => void
}

/** Gives the call a number under which it has never been sent. */
export function numberCall(call: Pending, sequence: number): void {
  const { method, params, onProgress } = call
  call.sequence = sequence
  call.text = requestText(sequence, method, onProgress === undefined ? params : withProgressToken(params, sequence))
}

export function mayHaveRun({ sent, method }: Pending): boolean {
  return sent && method === 'tools/call'
}
