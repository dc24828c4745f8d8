/**
 * A capability that every agent may have in the same form: telling its owner something.
 *
 * @module
 */
import { type JsonValue } from '../../core/json.ts'

export const MESSAGE_OWNER = 'message_owner'

export const MESSAGE_OWNER_INPUT: JsonValue = {
  type: 'object',
  required: ['message'],
  properties: {
    message: { type: 'string', minLength: 1, maxLength: 4_000 },
    from_display_name: { type: 'string', maxLength: 120 },
    urgency: { enum: ['low', 'normal', 'high'], default: 'normal' },
    expects_reply: { type: 'boolean', default: true },
    reply_by: { type: 'string', format: 'date-time' },
  },
}

export const MESSAGE_OWNER_OUTPUT: JsonValue = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { enum: ['replied', 'acknowledged', 'ignored', 'deferred'] },
    reply: { type: 'string', maxLength: 8_000 },
    responded_at: { type: 'string', format: 'date-time' },
    defer_until: { type: 'string', format: 'date-time' },
  },
}
