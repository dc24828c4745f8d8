/**
 * What an operator may set.
 *
 * @module
 */

export interface RelaySettings {
  /** Where people and programs reach the relay: an origin without a slash at the end. */
  readonly publicUrl: string
  /** Whoever comes may make an account. */
  readonly signupEnabled: boolean
  /** One agent is a server of MCP, and there is a directory. */
  readonly agentServersEnabled: boolean
  /** Agents may be searched for. */
  readonly discoveryEnabled: boolean
  /** Accounts may invoke only so often a minute. */
  readonly limitsEnforced: boolean
  /** Invocations of an account a minute, where it has no number of its own. */
  readonly ratePerMinute: number
  readonly creditsEnabled: boolean
  /** Thousandths of a credit. */
  readonly costPerInvocation: number
  /** Thousandths of a credit that an account gets each month. */
  readonly monthlyFreeGrant: number
  /** An invocation that nobody answered for so long has timed out. */
  readonly invocationTimeoutSecs: number
  /** So long an answer waits for the word of a person. */
  readonly draftTtlSecs: number
  /** So long a call of a tool of an agent waits for its outcome. */
  readonly agentWaitSecs: number
  /** Requests of one client a minute to the directory. */
  readonly directoryRatePerMinute: number
  /** Proxies in front of the relay that say truly whom they heard. */
  readonly trustedProxies: number
}

export const DEFAULT_SETTINGS: Omit<RelaySettings, 'publicUrl'> = {
  signupEnabled: false,
  agentServersEnabled: true,
  discoveryEnabled: true,
  limitsEnforced: false,
  ratePerMinute: 60,
  creditsEnabled: false,
  costPerInvocation: 100,
  monthlyFreeGrant: 5_000_000,
  invocationTimeoutSecs: 86_400,
  draftTtlSecs: 259_200,
  agentWaitSecs: 25,
  directoryRatePerMinute: 60,
  trustedProxies: 0,
}
