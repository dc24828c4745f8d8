/**
 * Makes a command that stays one that can be watched: asked for its status, read by Prometheus, and audited.
 *
 * Holds: what cannot be had for the asking, such as a socket in a folder whose path is too long, is said and done
 * without. What was asked for by name is refused instead.
 *
 * @module
 */
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { toCtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { pause } from '../../core/time.ts'
import { VERSION } from '../../core/version.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { AuditFile } from './audit/audit-file.ts'
import { AuditLog } from './audit/audit-log.ts'
import { auditPath } from './audit/audit-settings.ts'
import { Observing } from './observing.ts'
import { isOpenToOthers, type MetricsAddress, OBSERVING_ENV } from './observing-settings.ts'
import { statusOf } from './status-document.ts'
import { answerStatus } from './status-server.ts'

/** Whoever asks for the status waits so long for peers to answer a ping. */
const MEASURE_MS = 300
/** A disk that takes no more is not waited for at the end. */
const LAST_LINES_MS = 2_000

export interface Observed {
  readonly command: string
  readonly holder: HolderId
  /** What this side calls a peer. */
  readonly nameOf?: (holder: HolderId) => string | undefined
  /** It serves nobody, so there is nothing to audit. */
  readonly isCaller?: true
}

export interface Observation {
  readonly observing: Observing
  /** From now on there is somebody to ask. */
  readonly begin: (addresses: readonly string[]) => Promise<void>
  readonly end: () => Promise<void>
}

interface Closing {
  readonly close: () => Promise<void>
}

/** @throws {CtError} `ERR_CONFIG_INVALID` */
export function observe(context: Context, observed: Observed): Observation {
  const { env, stateDir, clock, log, io } = context
  const problems: EnvProblem[] = []
  const { auditLog, metrics } = readEnv(OBSERVING_ENV, env, problems)
  refuseProblems(problems)
  const run = generateInstanceId()
  const path = observed.isCaller === true ? undefined : auditPath(auditLog, stateDir)
  const audit = path === undefined ? undefined : new AuditLog(new AuditFile(path, shortId(run), clock), clock, log)
  const observing = new Observing(clock, audit)
  const closing: Closing[] = []
  const begin = async (addresses: readonly string[]): Promise<void> => {
    const { command, holder, nameOf = () => undefined } = observed
    const where = metrics === undefined ? undefined : await beginMetrics(metrics, command, observing, closing)
    if (where !== undefined) {
      notice(io, `ct-agent: metrics at ${where}`)
      if (metrics !== undefined && isOpenToOthers(metrics)) {
        notice(io, 'ct-agent: whoever gets there may read the metrics, which tell who calls')
      }
    }
    const facts = { version: VERSION, command, pid: process.pid, holder, addresses, metrics: where, nameOf }
    const answer = async (): Promise<string> => {
      await Promise.race([measureAll(observing), pause(clock, MEASURE_MS)])
      return JSON.stringify(statusOf(facts, observing, clock.now()))
    }
    try {
      closing.push(await answerStatus(stateDir, run, answer))
    } catch (error) {
      log.info('status.unavailable', { reason: toCtError(error).message })
    }
  }
  return {
    observing,
    begin,
    end: async () => {
      await Promise.all(closing.map(({ close }) => close()))
      await audit?.close(LAST_LINES_MS)
    },
  }
}

async function measureAll({ records }: Observing): Promise<void> {
  await Promise.all(records.map(({ session }) => session.vitals.measure()))
}

/** @throws {CtError} `ERR_ADDRESS_IN_USE`, `ERR_ADDRESS_UNAVAILABLE` */
async function beginMetrics(
  address: MetricsAddress,
  command: string,
  observing: Observing,
  closing: Closing[],
): Promise<string> {
  const [{ serveStatus }, { metricsText }, { formatAddress }] = await Promise.all([
    import('../../channel/status-pages/index.ts'),
    import('./metrics.ts'),
    import('../../channel/index.ts'),
  ])
  const text = (): string => metricsText({ version: VERSION, command, rssBytes: process.memoryUsage.rss() }, observing)
  const server = await serveStatus(address, { isHealthy: () => true, metrics: text })
  closing.push(server)
  return `http://${formatAddress(server.address)}/metrics`
}
