/**
 * A peer inside the test that sends requests as texts and gets answers as texts, to the byte.
 *
 * @module
 */
import { parseTicket, type Session, type Target } from '../../src/channel/index.ts'
import { decodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { type JsonValue } from '../../src/mcp/index.ts'
import { until } from '../mcp/services/processes.ts'
import { type Keys } from './members.ts'
import { dialAs } from './own-member.ts'
import { type Stage } from './stage.ts'

export class Peer {
  readonly session: Session
  readonly #texts: string[] = []
  #taken = 0

  static async open(stage: Stage, keys: Keys, target: Target): Promise<Peer> {
    return new Peer(await dialAs(keys, target, (close) => stage.onClose(close)))
  }

  private constructor(session: Session) {
    this.session = session
    session.receive((message) => {
      if (message.kind === 'text') this.#texts.push(decodeUtf8(message.bytes) ?? '')
    })
  }

  /** The answer to one request, as text. */
  async exchange(request: string): Promise<string> {
    await this.session.send({ text: request })
    await until('an answer', () => this.#texts.length > this.#taken, 20_000)
    this.#taken += 1
    return this.#texts[this.#taken - 1] ?? ''
  }

  ask(method: string, params?: JsonValue): Promise<string> {
    return this.exchange(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  }

  /** From here on the peer is one that speaks MCP. */
  async initialize(): Promise<void> {
    await this.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '0' },
    })
  }

  async leave(): Promise<void> {
    this.session.end(new CtError('ERR_LINK_CLOSED', 'the test is done'))
    await this.session.finished
  }
}

export function targetOf(ticket: string): Target {
  const { holder, addresses, secret } = parseTicket(ticket)
  return {
    addresses,
    trust: { holders: new Set([holder]) },
    ...(secret === undefined ? {} : { ticketSecret: secret }),
  }
}
