/**
 * What the doctor can find: the stable codes, how bad each is, and what mends it.
 *
 * Holds: a code is never renamed or reused; what stands before its dot is the check that finds it. Of a failure there is
 * always something that a person can do.
 *
 * @module
 */
import { type ErrorCode } from '../../core/errors.ts'

/** `skipped`: there was nothing to check, or no way to. */
export type Status = 'ok' | 'warn' | 'fail' | 'skipped'

export interface FindingFacts {
  readonly status: Status
  /** What a person can do next; of what is well, nothing. */
  readonly fix?: string
}

export const FINDINGS = {
  'node.ok': { status: 'ok' },
  'node.too_old': { status: 'fail', fix: 'install a newer Node.js from https://nodejs.org' },
  'settings.ok': { status: 'ok' },
  'settings.file': {
    status: 'fail',
    fix: 'make the file in CT_CONFIG_FILE readable by its owner alone (chmod 600), with lines of the form NAME=value',
  },
  'settings.invalid': { status: 'fail', fix: 'see ct-agent help env for what each variable takes' },
  'settings.unknown': { status: 'warn', fix: 'correct the name or remove it; ct-agent help env has all of them' },
  'state.ok': { status: 'ok' },
  'state.not_a_folder': { status: 'fail', fix: 'choose a folder with CT_AGENT_STATE_DIR or --state-dir' },
  'state.not_writable': {
    status: 'fail',
    fix: 'give the folder to this user (chown), free its disk, or choose another with CT_AGENT_STATE_DIR',
  },
  'state.open': { status: 'fail', fix: 'let its owner alone write it: chmod go-w' },
  'state.key': {
    status: 'fail',
    fix: 'restore the file, or let its owner alone read it (chmod 600); only a key that is lost anyway should be removed',
  },
  'state.disk_full': { status: 'warn', fix: 'free space on the disk, or choose a folder on another one' },
  'clock.ok': { status: 'ok' },
  'clock.off': { status: 'fail', fix: 'set the clock, best by a time service such as NTP' },
  'clock.behind': { status: 'fail', fix: 'set the clock, best by a time service such as NTP' },
  'clock.skipped': { status: 'skipped' },
  'port.ok': { status: 'ok' },
  'port.own_agent': { status: 'ok' },
  'port.in_use': { status: 'fail', fix: 'stop the program that listens there, or choose another port with --listen' },
  'port.forbidden': { status: 'fail', fix: 'choose a port from 1024 on with --listen, or allow this user lower ones' },
  'port.not_here': {
    status: 'fail',
    fix: 'listen at an address of this machine or at 0.0.0.0, and name others with --advertise',
  },
  'dns.ok': { status: 'ok' },
  'dns.not_found': { status: 'fail', fix: 'check the spelling of the name, or use an IP address' },
  'dns.dead': { status: 'fail', fix: 'check the network and the resolver of this machine (/etc/resolv.conf)' },
  'dns.skipped': { status: 'skipped' },
  'network.ok': { status: 'ok' },
  'network.none': { status: 'warn', fix: 'connect this machine to a network: it only reaches itself' },
  'ipv6.ok': { status: 'ok' },
  'ipv6.none': { status: 'ok' },
  'ipv6.needed': { status: 'fail', fix: 'get an IPv6 address, or ask the other side for an IPv4 address or a broker' },
  'ipv6.only': { status: 'fail', fix: 'get an IPv4 address, or ask the other side for an IPv6 address or a broker' },
  'broker.ok': { status: 'ok' },
  'broker.private': {
    status: 'warn',
    fix: 'ask whoever runs the broker whether it serves the operator of your channel; more cannot be tried from here',
  },
  'broker.unreachable': { status: 'fail', fix: 'check the address and whether the broker runs: ct-agent broker' },
  'broker.closed': { status: 'fail', fix: 'start the broker there, or check its port' },
  'broker.silent': {
    status: 'fail',
    fix: 'check whether it is frozen, or a firewall drops what goes there; where only port 443 is let out, use --front-door',
  },
  'broker.not_a_broker': { status: 'fail', fix: 'check the address: something else listens there' },
  'broker.other_key': { status: 'fail', fix: 'ask whoever runs the broker for the line that it prints now' },
  'broker.certificate': {
    status: 'fail',
    fix: 'set CT_CHANNEL_FRONT_DOOR_CERT to the certificate of the front door, and check the clock',
  },
  'broker.refused': { status: 'fail', fix: 'see the reason; whoever runs the broker sets its limits' },
  'broker.skipped': { status: 'skipped' },
  'relay.ok': { status: 'ok' },
  'relay.no_place': {
    status: 'fail',
    fix: 'ask whoever runs the relay whether it has places left; members that can dial each other do without',
  },
  'relay.skipped': { status: 'skipped' },
  'ticket.ok': { status: 'ok' },
  'ticket.invalid': {
    status: 'fail',
    fix: 'copy the whole ticket again, or give the name of a peer: ct-agent peer list',
  },
  'ticket.unknown_peer': { status: 'fail', fix: 'see ct-agent peer list; a new peer is joined by its ticket' },
  'ticket.expired': { status: 'fail', fix: 'ask the serving side for a fresh ticket or invitation' },
  'ticket.not_ours': { status: 'fail', fix: 'use the holder key that was made a member, or join again with this one' },
  'ticket.ends_soon': { status: 'warn', fix: 'ask the serving side for a fresh ticket before this one ends' },
  'ticket.invitation': { status: 'ok' },
  'ticket.skipped': { status: 'skipped' },
  'peer.ok': { status: 'ok' },
  'peer.unreachable': { status: 'fail', fix: 'check that the peer runs, and that its address and port can be reached' },
  'peer.closed': { status: 'fail', fix: 'start the peer; if it moved, ask it for the ticket that it prints now' },
  'peer.silent': { status: 'fail', fix: 'check whether the peer is frozen or a firewall drops what goes there' },
  'peer.other_key': {
    status: 'fail',
    fix: 'ask the peer for the ticket that it prints now: another agent answers there',
  },
  'peer.refused': {
    status: 'fail',
    fix: 'see the reason: ask the serving side to trust this key, or for a fresh ticket',
  },
  'peer.busy': { status: 'warn', fix: 'try again later: it serves as many as it allows' },
  'peer.not_a_peer': { status: 'fail', fix: 'check the address: something else listens there' },
  'peer.failed': { status: 'fail', fix: 'see the reason' },
  'peer.skipped': { status: 'skipped' },
  'handler.ok': { status: 'ok' },
  'handler.missing': { status: 'fail', fix: 'install the program, or give its whole path' },
  'handler.not_executable': { status: 'fail', fix: 'make it executable: chmod +x' },
  'handler.syntax': { status: 'fail', fix: 'correct the command: it is run with sh -c' },
  'handler.unreachable': {
    status: 'fail',
    fix: 'start the HTTP server that handles the services, or correct its address',
  },
  'handler.unused': { status: 'warn', fix: 'name the services that it offers with --services' },
  'handler.skipped': { status: 'skipped' },
  'server.ok': { status: 'ok' },
  'server.missing': { status: 'fail', fix: 'install the program, or give its whole path' },
  'server.stdout': {
    status: 'fail',
    fix: 'make the server write everything but MCP messages to stderr: hosts break on what else is on stdout',
  },
  'server.ended': { status: 'fail', fix: 'run the command by hand: it has to stay and read MCP messages from stdin' },
  'server.silent': {
    status: 'warn',
    fix: 'run the command once by hand: a first start may download much, and what waits for input never answers',
  },
  'server.skipped': { status: 'skipped' },
  'doctor.late': { status: 'fail', fix: 'run it again; what takes so long is most likely the network' },
  'doctor.crashed': { status: 'fail', fix: 'a defect of ct-agent: report it' },
} as const satisfies Readonly<Record<string, FindingFacts>>

export type FindingCode = keyof typeof FINDINGS

/** What a check came to. */
export interface Finding {
  readonly code: FindingCode
  readonly status: Status
  /** What is so, for people. */
  readonly message: string
  readonly fix?: string
  /** The error of the catalogue that a command would end in. */
  readonly error?: ErrorCode
}

export function found(code: FindingCode, message: string, error?: ErrorCode): Finding {
  const { status, fix }: FindingFacts = FINDINGS[code]
  return { code, status, message, ...(fix === undefined ? {} : { fix }), ...(error === undefined ? {} : { error }) }
}
