/**
 * `channel rotate-key`: a member changes to another holder key, and those that know the old one follow.
 *
 * @module
 */
import { ROTATION_ENV } from '../../channel/membership/config.ts'
import { EVERY_CHANNEL, encodeSuccession, sealSuccession } from '../../channel/membership/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { toHex } from '../../core/bytes.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { saturatingAdd, u64, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { readRequired } from './required.ts'
import { ROTATING_KEY } from './signing-settings.ts'

export async function rotateKey({ io, env, clock, switches }: Context): Promise<number> {
  const { holderKey: oldKey, newHolderKey: newKey, overlapSeconds } = readRequired(ROTATING_KEY, env)
  const problems: EnvProblem[] = []
  const { channel = EVERY_CHANNEL } = readEnv({ channel: ROTATION_ENV.channel }, env, problems)
  refuseProblems(problems)
  const issuedAt = unixSeconds(clock)
  const overlapUntil = saturatingAdd(issuedAt, u64(overlapSeconds))
  const succession = sealSuccession({ channel, kind: 'holder', issuedAt, overlapUntil, oldKey, newKey })
  const { from, to } = succession.body
  const hex = toHex(encodeSuccession(succession))
  const json = { from, to, overlap_until: toJsonValue(overlapUntil), succession: hex }
  await printLine(io, switches.has('json') ? JSON.stringify(json) : hex)
  const { name } = BROKERED_ENV.successions
  notice(io, `ct-agent channel: ${name} shows it beside the new key; the old one counts until ${overlapUntil}`)
  return 0
}
