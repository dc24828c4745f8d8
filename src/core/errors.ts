/**
 * The one error class of the program and the catalogue of its codes.
 *
 * Holds: a code is never renamed or reused; exit status, retry policy and hint are looked up here and decided nowhere
 * else. Messages are lower case without a full stop, say what was expected and then what was found, and never hold a
 * secret. Mistakes of the programmer are plain `TypeError`s and `RangeError`s.
 *
 * @module
 */
export interface ErrorFacts {
  /** Process exit status of a command that ends with this error. */
  readonly exit: number
  /** True when the same attempt may succeed later without anybody changing anything. */
  readonly retryable: boolean
  /** What a person can do next. */
  readonly hint: string
}

export const ERROR_CODES = {
  ERR_INTERNAL: {
    exit: 1,
    retryable: false,
    hint: 'a defect of ct-agent: report it with the log at CT_LOG_LEVEL=debug',
  },
  ERR_USAGE: { exit: 2, retryable: false, hint: 'see ct-agent --help' },
  ERR_CONFIG_INVALID: { exit: 2, retryable: false, hint: 'see ct-agent help env' },
  ERR_TICKET_INVALID: {
    exit: 2,
    retryable: false,
    hint: 'copy the whole ticket again, from the first line that ct-agent serve prints',
  },
  ERR_PEER_UNKNOWN: {
    exit: 2,
    retryable: false,
    hint: 'see ct-agent peer list; a new peer is joined by its ticket with ct-agent join',
  },
  ERR_PEER_NAME_TAKEN: {
    exit: 2,
    retryable: false,
    hint: 'choose another name, or rename the peer that has it with ct-agent peer rename',
  },
  ERR_ARTEFACT_INVALID: {
    exit: 2,
    retryable: false,
    hint: 'compare what you have with what its signer published: it is cut off, changed, or something else',
  },
  ERR_SIGNATURE_INVALID: {
    exit: 3,
    retryable: false,
    hint: 'trust nothing in it: it was changed after signing, or somebody else signed it',
  },
  ERR_SIGNATURE_LEGACY: {
    exit: 3,
    retryable: false,
    hint: 'have it signed again, or accept the old form with CT_ACCEPT_LEGACY_SIGNATURES=1',
  },
  ERR_ARTEFACT_EXPIRED: { exit: 3, retryable: false, hint: 'ask its signer for a fresh one' },
  ERR_ARTEFACT_EARLY: {
    exit: 3,
    retryable: true,
    hint: 'set the clocks of both machines, or allow more difference with CT_CLOCK_SKEW_SECS',
  },
  ERR_SIGNER_MISMATCH: {
    exit: 3,
    retryable: false,
    hint: 'the peer shows what another key signed: buy nothing from it on the strength of that',
  },
  ERR_CATALOG_EXCEEDED: {
    exit: 3,
    retryable: false,
    hint: 'the peer serves what it did not sign for: ask its operator, and trust only what the offer declares',
  },
  ERR_MATCH_INVALID: {
    exit: 3,
    retryable: false,
    hint: 'the peer answered with a match that does not follow from its offer and your bid: do not pay for it',
  },
  ERR_GRANT_INVALID: {
    exit: 3,
    retryable: false,
    hint: 'ask the operator of the channel for a grant that fits this channel, this key and this side',
  },
  ERR_GRANT_EXPIRED: { exit: 3, retryable: false, hint: 'ask the operator of the channel for a fresh grant' },
  ERR_RIGHTS_MISSING: {
    exit: 3,
    retryable: false,
    hint: 'ask the operator of the channel for a grant with the right that is missing',
  },
  ERR_MEMBER_REMOVED: {
    exit: 3,
    retryable: false,
    hint: 'the operator of the channel removed this member: ask there why, and for a new grant',
  },
  ERR_MEMBERSHIP_STALE: {
    exit: 5,
    retryable: true,
    hint: 'the other side could not ask for an hour who was removed: come again when its broker is back, or renew the membership',
  },
  ERR_INVITATION_INVALID: {
    exit: 3,
    retryable: false,
    hint: 'ask the serving side for a fresh invitation: it does not know this one',
  },
  ERR_INVITATION_EXPIRED: { exit: 3, retryable: false, hint: 'ask the serving side for a fresh invitation' },
  ERR_INVITATION_REVOKED: {
    exit: 3,
    retryable: false,
    hint: 'the serving side took the invitation back: ask there why, and for a fresh one',
  },
  ERR_INVITATION_USED: {
    exit: 3,
    retryable: false,
    hint: 'it was redeemed as often as it may be: ask the serving side for one of your own',
  },
  ERR_CHALLENGE_INVALID: {
    exit: 3,
    retryable: true,
    hint: 'redeem the invitation again, with a challenge of this session that is not a minute old',
  },
  ERR_TOOL_NOT_ALLOWED: {
    exit: 3,
    retryable: false,
    hint: 'list the tools that you may call, or ask the serving side for this one',
  },
  ERR_PEER_REFUSED: {
    exit: 3,
    retryable: false,
    hint: 'ask the serving side to trust your key, or check which key you were told to expect',
  },
  ERR_PEER_KEY_MISMATCH: {
    exit: 3,
    retryable: false,
    hint: 'compare the pinned key with the one the peer prints at start',
  },
  ERR_ORIGIN_REFUSED: { exit: 3, retryable: false, hint: 'list it in CT_GATEWAY_ORIGINS or CT_GATEWAY_HOSTS' },
  ERR_TOKEN_REFUSED: { exit: 3, retryable: false, hint: 'send the token as Authorization: Bearer …' },
  ERR_SESSION_UNKNOWN: { exit: 5, retryable: true, hint: 'begin a new session: it has ended, or never was' },
  ERR_CERTIFICATE_UNTRUSTED: {
    exit: 3,
    retryable: false,
    hint: 'get the certificate of the front door from whoever runs the broker, and set CT_CHANNEL_FRONT_DOOR_CERT to it',
  },
  ERR_CERTIFICATE_EXPIRED: {
    exit: 5,
    retryable: true,
    hint: 'ask whoever runs the broker to renew the certificate of its front door, and check the clock of this machine',
  },
  ERR_TOOL_FAILED: {
    exit: 4,
    retryable: false,
    hint: 'the tool ran and reported a failure; the serving side has the details in its log, those of a refusal at CT_LOG_LEVEL=info',
  },
  ERR_TOOL_UNKNOWN: { exit: 4, retryable: false, hint: 'list what the peer serves: ct-agent tools <ticket>' },
  ERR_CALL_INVALID: { exit: 4, retryable: false, hint: 'check the method, the tool name and the JSON arguments' },
  ERR_CALL_CANCELLED: { exit: 4, retryable: false, hint: 'the caller cancelled the call' },
  ERR_CALL_INTERRUPTED: {
    exit: 4,
    retryable: false,
    hint: 'the call was stopped before it finished; decide whether to call again',
  },
  ERR_RECEIPT_UNSIGNED: {
    exit: 4,
    retryable: false,
    hint: 'the call itself is done, so do not repeat it: keep the draft, which the provider can sign with ct-agent receipt countersign',
  },
  ERR_STOPPED: { exit: 4, retryable: false, hint: 'a signal stopped the command before it was done; run it again' },
  ERR_PEER_UNREACHABLE: {
    exit: 5,
    retryable: true,
    hint: 'check that the peer runs and that its address and port can be reached',
  },
  ERR_LINK_LOST: { exit: 5, retryable: true, hint: 'the connection broke; call again' },
  ERR_LINK_CLOSED: { exit: 5, retryable: true, hint: 'the peer ended the session' },
  ERR_PEER_SHUTDOWN: { exit: 5, retryable: true, hint: 'the peer is shutting down; call again when it is back' },
  ERR_PEER_BUSY: {
    exit: 5,
    retryable: true,
    hint: 'the peer serves as many sessions or calls as it allows; call again later',
  },
  ERR_SERVER_UNAVAILABLE: {
    exit: 5,
    retryable: true,
    hint: 'the MCP server behind the serving agent does not run or does not answer; its operator finds why at CT_LOG_LEVEL=debug',
  },
  ERR_PEER_UNRESPONSIVE: {
    exit: 5,
    retryable: true,
    hint: 'the peer stopped answering; check whether it is frozen or cut off',
  },
  ERR_PEER_SLOW: { exit: 5, retryable: true, hint: 'the peer does not read what it is sent; check what blocks it' },
  ERR_SESSION_IDLE: { exit: 5, retryable: true, hint: 'the session was closed because nothing used it; call again' },
  ERR_TIMEOUT: { exit: 6, retryable: true, hint: 'raise the time limit or ask why the call takes so long' },
  ERR_CALL_TIMEOUT: {
    exit: 6,
    retryable: false,
    hint: 'the call was sent and may have run; check its effect before calling again, or raise the time limit',
  },
  ERR_PROTOCOL: { exit: 7, retryable: false, hint: 'the peer does not speak this protocol; check its version' },
  ERR_VERSION_UNSUPPORTED: { exit: 7, retryable: false, hint: 'update the older side' },
  ERR_MESSAGE_INVALID: { exit: 7, retryable: false, hint: 'the message is not a valid JSON-RPC message' },
  ERR_MESSAGE_TOO_LARGE: {
    exit: 7,
    retryable: false,
    hint: 'send less in one message; both sides announce their limit',
  },
  ERR_STATE_UNAVAILABLE: {
    exit: 8,
    retryable: false,
    hint: 'check CT_AGENT_STATE_DIR: it must be writable, yours alone, and have free space',
  },
  ERR_ADDRESS_IN_USE: { exit: 8, retryable: false, hint: 'choose another port, or port 0 to let the system choose' },
  ERR_ADDRESS_UNAVAILABLE: { exit: 8, retryable: false, hint: 'choose an address of this machine' },
  ERR_AGENT_NOT_RUNNING: {
    exit: 5,
    retryable: true,
    hint: 'start one, such as ct-agent serve, or name its state folder with --state-dir',
  },
  ERR_RELAY_REFUSED: {
    exit: 2,
    retryable: false,
    hint: 'the relay does not do this; the message says what it expects',
  },
  ERR_AUDIT_BROKEN: {
    exit: 3,
    retryable: false,
    hint: 'somebody or something changed the log after it was written: compare it with a copy, and keep both',
  },
  ERR_CALL_OUTCOME_UNKNOWN: {
    exit: 9,
    retryable: false,
    hint: 'the call may or may not have run; check its effect before calling again',
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>

export type ErrorCode = keyof typeof ERROR_CODES

export interface ErrorOptions {
  /** The error that led here. */
  readonly cause?: unknown
  /** Facts for programs: no secret, no payload. */
  readonly detail?: Readonly<Record<string, unknown>>
}

export class CtError extends Error {
  readonly code: ErrorCode
  readonly detail: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, { cause, detail }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.detail = detail ?? {}
  }

  override get name(): string {
    return 'CtError'
  }

  get facts(): ErrorFacts {
    return ERROR_CODES[this.code]
  }
}

/** True for our own errors; with codes, only for those. */
export function isCtError(error: unknown, ...codes: readonly ErrorCode[]): error is CtError {
  return error instanceof CtError && (codes.length === 0 || codes.includes(error.code))
}

/** True for a text that is a code of the catalogue: codes also arrive from peers, who may send anything. */
export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(ERROR_CODES, text)
}

/** Any thrown value as an error of ours; what is not ours becomes `code`. */
export function toCtError(error: unknown, code: ErrorCode = 'ERR_INTERNAL'): CtError {
  if (error instanceof CtError) return error
  return new CtError(code, error instanceof Error ? error.message : textOf(error), { cause: error })
}

function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'an unknown value was thrown'
  }
}

/** When whoever refused said to come again, in milliseconds. Where it was a peer, whatever read it has bounded it. */
export function retryAfterOf({ detail }: CtError): number | undefined {
  const asked = detail['retryAfterMs']
  return typeof asked === 'number' ? asked : undefined
}
