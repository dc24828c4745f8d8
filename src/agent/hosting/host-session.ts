/**
 * One MCP host over stdio and the peers whose tools it uses as if they were local.
 *
 * Holds: what a host is told goes out in the protocol and nowhere else. When the host goes, everything ends soon.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type LinePort } from '../../mcp/adapter/index.ts'
import { HostedService, type HostedServiceDeps } from './hosted-service.ts'

export interface HostSessionDeps extends HostedServiceDeps {
  /** Ends the session. */
  readonly signal: AbortSignal
}

/** Serves the host until it is gone or the signal aborts. */
export async function serveHost(port: LinePort, { signal, ...deps }: HostSessionDeps): Promise<void> {
  const service = new HostedService({ ...deps, isOneHost: true })
  const link = service.serve(port)
  const stop = (): void => port.end(new CtError('ERR_STOPPED', 'stopped by a signal'))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await port.closed
  link.close()
  await service.close()
}
