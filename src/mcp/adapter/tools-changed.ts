/**
 * @module
 */
import { notificationText } from '../wire/envelope.ts'

/** What tells a host to ask for the list of tools again. */
export function toolsChangedText(): string {
  return notificationText('notifications/tools/list_changed', {})
}
