/**
 * Answers within what the peer accepts.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { batched, errorText, type IdText, NO_ID, type Single } from '../wire/envelope.ts'
import { codedError } from '../wire/rpc-error.ts'
import { fits } from './faces.ts'

/** The response with this id, or an error in its place that names its size and the limit. */
export function boundAnswer(id: IdText, text: string, limitBytes: number): string {
  return fits(text, limitBytes) ? text : tooLargeText(id, Buffer.byteLength(text), limitBytes)
}

/**
 * Hands each member of a batch over to be answered, and all answers at once to be sent. When all together are too large,
 * none is given; when nothing wants an answer, nothing is sent.
 */
export function answerBatch(
  members: readonly Single[],
  limitBytes: number,
  handle: (member: Single, respond: (text: string | undefined) => void) => void,
  send: (text: string) => void,
): void {
  const answers: { readonly id: IdText; readonly text: string }[] = []
  let open = members.length
  for (const member of members) {
    const respond = (text: string | undefined): void => {
      if (text !== undefined) answers.push({ id: 'id' in member ? member.id : NO_ID, text })
      open -= 1
      if (open === 0 && answers.length > 0) send(batchText(answers, limitBytes))
    }
    handle(batched(member), respond)
  }
}

function batchText(answers: readonly { readonly id: IdText; readonly text: string }[], limitBytes: number): string {
  const text = `[${answers.map((answer) => answer.text).join(',')}]`
  if (fits(text, limitBytes)) return text
  const size = Buffer.byteLength(text)
  return `[${answers.map(({ id }) => tooLargeText(id, size, limitBytes)).join(',')}]`
}

function tooLargeText(id: IdText, size: number, limitBytes: number): string {
  const message = `the answer has ${size} bytes; the caller accepts at most ${limitBytes}`
  return errorText(id, codedError(new CtError('ERR_MESSAGE_TOO_LARGE', message)))
}
