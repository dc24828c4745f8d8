/**
 * `ct-agent broker`: runs a broker and prints the string that leads to it.
 *
 * @module
 */
import { BROKER_ENV, type Broker, type BrokerOptions, createBroker } from '../../channel/broker/index.ts'
import { formatAddress } from '../../channel/index.ts'
import { type EnvProblem, type EnvValues, missing, readEnv, refuseProblems } from '../../core/env.ts'
import { holderKey } from '../../core/keys.ts'
import { type Context } from '../command.ts'
import { fromFile, readText } from '../input.ts'
import { notice, printLine } from '../io.ts'
import { answerForBroker } from '../observing/broker-status.ts'
import { readListedCard } from '../registry/listed-card.ts'
import { aborted, watchShutdown } from '../shutdown.ts'
import { loadSecret } from '../state.ts'

type BrokerValues = EnvValues<typeof BROKER_ENV>

export async function broker(context: Context): Promise<number> {
  const { io, env, clock, log, stateDir, drainSeconds } = context
  const problems: EnvProblem[] = []
  const values = readEnv(BROKER_ENV, env, problems)
  requireTogether(values, problems)
  refuseProblems(problems)
  const holder = holderKey(loadSecret(stateDir, 'broker.key'))
  const shutdown = watchShutdown(io)
  try {
    const running = await createBroker({
      ...limitsOf(values),
      holder,
      listen: values.listen,
      wsListen: values.wsListen,
      tls: await readTls(values),
      advertise: values.advertise,
      httpListen: values.httpListen,
      cards:
        values.cards === 0
          ? undefined
          : { cards: values.cards, perSource: values.cardsPerAddress, read: readListedCard },
      operators: values.operators === undefined ? undefined : new Set(values.operators),
      clock,
      log,
    })
    let forget = (): Promise<void> => Promise.resolve()
    try {
      const { addresses, metrics } = running
      forget = await answerForBroker(context, { holder: holder.id, addresses, metrics })
      await announce(context, running, values)
      await aborted(shutdown.signal)
      await running.drain(drainSeconds * 1_000)
      return 0
    } finally {
      await forget()
      await running.close()
    }
  } finally {
    shutdown.dispose()
  }
}

function requireTogether({ tlsCert, tlsKey, wsListen }: BrokerValues, problems: EnvProblem[]): void {
  const malformed = new Set(problems.map(({ name }) => name))
  if (tlsCert !== undefined && tlsKey === undefined) problems.push(missing(BROKER_ENV.tlsKey))
  if (tlsKey !== undefined && tlsCert === undefined) problems.push(missing(BROKER_ENV.tlsCert))
  if (tlsCert !== undefined && wsListen === undefined && !malformed.has(BROKER_ENV.wsListen.name)) {
    problems.push(missing(BROKER_ENV.wsListen))
  }
}

async function readTls({ tlsCert, tlsKey }: BrokerValues): Promise<BrokerOptions['tls']> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  const read = (path: string): Promise<string> => fromFile(path, (source) => readText(source, path))
  return { cert: await read(tlsCert), key: await read(tlsKey) }
}

function limitsOf(values: BrokerValues): Pick<BrokerOptions, 'limits' | 'operatorLimits'> {
  return {
    limits: {
      connections: values.maxConnections,
      reservations: values.maxReservations,
      peerRelayed: values.maxPeerRelayed,
      relayBytes: values.relayBytes,
      relaySeconds: values.relaySeconds,
    },
    operatorLimits: { rooms: values.operatorRooms, seats: values.operatorSeats, bytes: values.operatorBytes },
  }
}

async function announce(
  { io, switches }: Context,
  { ticketLine, addresses, httpAddress }: Broker,
  { operators }: BrokerValues,
): Promise<void> {
  const http = httpAddress === undefined ? undefined : `http://${formatAddress(httpAddress)}`
  const json = JSON.stringify({ broker: ticketLine, addresses, ...(http === undefined ? {} : { http }) })
  await printLine(io, switches.has('json') ? json : ticketLine)
  notice(io, `ct-agent: members set CT_CHANNEL_BROKER to the line above`)
  const whom =
    operators === undefined ? 'every operator' : `${operators.length} operator${operators.length === 1 ? '' : 's'}`
  notice(io, `ct-agent: serving members of ${whom}`)
  if (http !== undefined) notice(io, `ct-agent: status at ${http}/healthz and ${http}/metrics`)
}
