/**
 * Where a list goes on: after a row that was made then and has that id.
 *
 * @module
 */
import { isUuid } from '../../core/uuid.ts'
import { Refusal } from '../refusal.ts'

export interface Place {
  readonly createdAt: number
  readonly id: string
}

const MAX_CURSOR_CHARS = 120

export function cursorAt({ createdAt, id }: Place): string {
  return Buffer.from(`${createdAt},${id}`).toString('base64url')
}

/** @throws {Refusal} `invalid_request` */
export function readCursor(text: string): Place {
  const [time = '', id = ''] = Buffer.from(text.slice(0, MAX_CURSOR_CHARS), 'base64url').toString('utf8').split(',')
  const createdAt = Number(time)
  if (!/^\d{1,15}$/.test(time) || !isUuid(id) || cursorAt({ createdAt, id }) !== text) {
    throw new Refusal('invalid_request', 'cursor: expected one that this list gave')
  }
  return { createdAt, id }
}
