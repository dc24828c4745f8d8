/**
 * The peers to dial, of which some have changed their key.
 *
 * @module
 */
import { type TrustPolicy } from '../../channel/index.ts'
import { type KnownSuccessions, type SignedSuccession } from '../../channel/membership/index.ts'
import { type UnixSeconds } from '../../core/u64.ts'

type Pins = Pick<TrustPolicy, 'holders' | 'noiseKeys'>

/** Whoever dials has to know whom to expect before anybody can show it: what took over counts beside what it took over from. */
export function followedPins(
  pins: Pins | undefined,
  known: KnownSuccessions,
  successions: readonly SignedSuccession[],
  now: UnixSeconds,
): Pins {
  if (pins?.holders === undefined) return pins ?? {}
  const { holders } = pins
  for (const holder of holders) known.learn(holder, 'holder', successions, now)
  return { ...pins, holders: new Set([...holders].flatMap((holder) => known.standFor(holder, 'holder', now))) }
}
