/**
 * A broker and members of a channel that meet at it, as processes.
 *
 * @module
 */
import { encodeGrant, GRANT } from '../../src/channel/membership/index.ts'
import { seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { type ChannelId } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../src/core/keys.ts'
import { U64_MAX, type UnixSeconds } from '../../src/core/u64.ts'
import { type Agent } from './agent.ts'
import { type Stage } from './stage.ts'

type Role = 'initiate' | 'accept'

export interface GrantOptions {
  readonly direction?: Role | 'both'
  readonly expiresAt?: UnixSeconds
  /** Who signs it; the one of the meeting, unless another is named. */
  readonly operator?: HolderKey
}

/** One operator, its channel, and a broker. */
export class Meeting {
  readonly operator = holderKey(SecretKey.generate())
  readonly channel = toHex(SecretKey.generate().reveal()) as ChannelId
  readonly #stage: Stage
  #members = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Starts a broker; the same name is the same broker. */
  async broker(env: Env = {}, name = 'broker'): Promise<{ agent: Agent; address: string }> {
    const agent = this.#stage.start(['broker'], {
      env: { CT_AGENT_STATE_DIR: this.#stage.path(name), CT_BROKER_LISTEN: '127.0.0.1:0', ...env },
    })
    return { agent, address: await agent.line() }
  }

  grant(
    member: HolderKey,
    { direction = 'both', expiresAt = U64_MAX, operator = this.operator }: GrantOptions = {},
  ): string {
    const { channel } = this
    const body = { channel, holder: member.id, direction, rights: 'rw', delegable: false, expiresAt } as const
    return toHex(encodeGrant(seal(GRANT, body, operator.secret)))
  }

  /** Variables of a new member. */
  member(role: Role, broker: string, env: Env = {}): Env {
    const key = holderKey(SecretKey.generate())
    this.#members += 1
    return {
      CT_AGENT_STATE_DIR: this.#stage.path(`member-${this.#members}`),
      CT_CHANNEL_ROLE: role,
      CT_CHANNEL_BROKER: broker,
      CT_CHANNEL_OPERATOR_PUBKEY: this.operator.id,
      CT_CHANNEL_HOLDER_KEY: toHex(key.secret.reveal()),
      CT_CHANNEL_GRANT: this.grant(key, { direction: role }),
      ...env,
    }
  }

  /** Starts an acceptor that nobody can dial, and waits until it can be reached. */
  async accept(broker: string, env: Env = {}, options: { readonly ownStdout?: true } = {}): Promise<Agent> {
    const agent = this.#stage.start(['channel'], { ...options, env: this.member('accept', broker, env) })
    await agent.says(/reachable through the relay/)
    return agent
  }

  initiate(broker: string, env: Env = {}, options: { readonly ownStdout?: true } = {}): Agent {
    return this.#stage.start(['channel'], { ...options, env: this.member('initiate', broker, env) })
  }
}

/** Where a broker of these addresses listens, to start it there again. */
export function portOf(address: string): string {
  return /\/tcp\/(\d+)/.exec(address)?.[1] ?? ''
}
