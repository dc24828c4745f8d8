/**
 * The two members of a direct channel, as environments.
 *
 * @module
 */
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { type Agent } from './agent.ts'
import { type Stage } from './stage.ts'

export interface Keys {
  readonly holder: SecretKey
  readonly noise: SecretKey
}

export function makeKeys(): Keys {
  return { holder: SecretKey.generate(), noise: SecretKey.generate() }
}

/** What a member knows of itself and of the other. */
export function memberEnv(own: Keys, peer: Keys): Env {
  return {
    CT_CHANNEL_HOLDER_KEY: toHex(own.holder.reveal()),
    CT_CHANNEL_NOISE_KEY: toHex(own.noise.reveal()),
    CT_CHANNEL_PEER_NOISE_KEY: noiseKey(peer.noise).id,
    CT_CHANNEL_PEER_HOLDER: holderKey(peer.holder).id,
  }
}

/** Two members that trust each other. */
export class Members {
  readonly server = makeKeys()
  readonly caller = makeKeys()
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Starts the accepting member and waits for its port. */
  async accept(
    env: Env,
    address = '127.0.0.1:0',
    options: { readonly ownStdout?: true } = {},
  ): Promise<{ agent: Agent; address: string }> {
    const agent = this.#stage.start(['channel'], {
      ...options,
      env: { ...memberEnv(this.server, this.caller), CT_CHANNEL_ROLE: 'accept', CT_CHANNEL_ADDR: address, ...env },
    })
    return { agent, address: await agent.says(/listening on (\S+) \(responder\)/) }
  }

  /** Variables of the member that dials. */
  initiate(address: string, env: Env): Env {
    return {
      ...memberEnv(this.caller, this.server),
      CT_CHANNEL_ROLE: 'initiate',
      CT_CHANNEL_ADDR: address,
      ...env,
    }
  }

  /** Makes this caller expect the server of others. */
  trusting(others: Members): Env {
    const { CT_CHANNEL_PEER_NOISE_KEY, CT_CHANNEL_PEER_HOLDER } = memberEnv(this.caller, others.server)
    return { CT_CHANNEL_PEER_NOISE_KEY, CT_CHANNEL_PEER_HOLDER }
  }

  call(address: string, env: Env, options: { readonly ownStdout?: true } = {}): Agent {
    return this.#stage.start(['channel'], { env: this.initiate(address, env), ...options })
  }
}

export function serving(handler?: string, more: Env = {}): Env {
  return {
    CT_CHANNEL_SERVE: '1',
    ...(handler === undefined ? {} : { CT_AGENT_SERVICE_HANDLER_CMD: handler, CT_AGENT_SERVICES: 'echo' }),
    ...more,
  }
}
