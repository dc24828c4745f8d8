/**
 * `channel grant` and `channel invite`: what an operator signs, as one line of hex.
 *
 * @module
 */
import { encodeGrant, encodeInvitation, GRANT, INVITATION } from '../../channel/membership/index.ts'
import { seal } from '../../core/artefact.ts'
import { toHex } from '../../core/bytes.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { readRequired } from './required.ts'
import { GRANTING, INVITING, mustBe, pointInTime } from './signing-settings.ts'

export async function grant(context: Context): Promise<number> {
  const wordings = { direction: mustBe, expires: pointInTime }
  const { operatorKey, channel, member, direction, expires } = readRequired(GRANTING, context.env, wordings)
  // The original has no variables for the other terms.
  const body = { channel, holder: member, direction, rights: 'rw', delegable: false, expiresAt: expires } as const
  pointOutExpiry(context, GRANTING.expires.name, expires)
  await printLine(context.io, toHex(encodeGrant(seal(GRANT, body, operatorKey))))
  return 0
}

export async function invite(context: Context): Promise<number> {
  const wordings = { direction: mustBe, rights: mustBe, expires: pointInTime }
  const { operatorKey, identity, expires, ...terms } = readRequired(INVITING, context.env, wordings)
  const body = { ...terms, invitee: identity, expiresAt: expires }
  pointOutExpiry(context, INVITING.expires.name, expires)
  await printLine(context.io, toHex(encodeInvitation(seal(INVITATION, body, operatorKey))))
  return 0
}

/** As in the original, no reason to refuse: but nobody will accept it. */
function pointOutExpiry({ io, clock }: Context, name: string, expiresAt: UnixSeconds): void {
  const now = unixSeconds(clock)
  if (now >= expiresAt)
    notice(io, `ct-agent channel: ${name} is in the past: expired at ${expiresAt}, and it is ${now}`)
}
