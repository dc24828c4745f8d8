/**
 * The commands that help to set this agent up on a machine.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { SERVICE_ENV } from '../../mcp/services/config.ts'
import { UPSTREAM_ENV } from '../../mcp/upstream/config.ts'
import { TICKET_ENV } from '../calling/call-settings.ts'
import { type Command } from '../command.ts'
import { JSON_OPTION, TO_BROKER, WITH_STATE } from './shared-rows.ts'

export const SETUP_COMMANDS: readonly Command[] = [
  {
    words: ['doctor'],
    operands: '[<ticket or name>] [-- <MCP server>]',
    arity: [0, 1],
    about: 'Examine this machine, the settings, the broker and a peer, and say what is wrong and what to do',
    details:
      'Each check has a name and comes to a stable code, such as port.in_use, with the cause and what mends it; all of them\nare in docs/doctor.md. It takes some seconds and changes nothing: no invitation is redeemed, no tool called, no key\nmade. It ends with status 0 unless something is wrong, and then with 1.\n\nThe broker and the relay are tried with a channel made for that. A handler is not run; an MCP server, after --\nor in CT_AGENT_MCP_SERVER_CMD, is started and asked who it is.',
    examples: [
      'ct-agent doctor',
      'ct-agent doctor bob',
      'CT_TICKET=… ct-agent doctor --json',
      'ct-agent doctor -- npx some-mcp-server',
      "ct-agent doctor --listen 0.0.0.0:4433 --broker broker.example.org:4435 --handler './summarise.sh'",
    ],
    exits: true,
    examinesSettings: true,
    rest: UPSTREAM_ENV.command,
    rows: [
      TICKET_ENV.ticket,
      CHANNEL_ENV.listen,
      ...TO_BROKER,
      BROKERED_ENV.relay,
      SERVICE_ENV.command,
      SERVICE_ENV.services,
      UPSTREAM_ENV.command,
      CHANNEL_ENV.holderKey,
      CHANNEL_ENV.noiseKey,
      ...WITH_STATE,
    ],
    options: [JSON_OPTION],
    load: async () => (await import('./over-http.ts')).doctor,
  },
  {
    words: ['completion'],
    operands: '<bash|zsh|fish|peers>',
    arity: [1, 1],
    about: 'Print what makes a shell complete commands, flags and names of peers',
    details:
      'bash: source <(ct-agent completion bash) in ~/.bashrc; zsh: the same in ~/.zshrc after compinit; fish: ct-agent\ncompletion fish > ~/.config/fish/completions/ct-agent.fish. With peers it prints the names that the shells ask for.',
    examples: ['source <(ct-agent completion bash)', 'ct-agent completion fish | source', 'ct-agent completion peers'],
    exits: true,
    rows: WITH_STATE,
    options: [],
    load: async () => (await import('./online.ts')).completion,
  },
  {
    words: ['service', 'print'],
    operands: '<systemd|launchd> [-- <flags of serve>]',
    arity: [1, 64],
    about: 'Print a unit by which this machine runs ct-agent serve, and say where it goes',
    details:
      'The unit runs the program that printed it, as this user, with the state folder that is set now, and starts it again\nwhen it fails. It has no secrets: settings come from the flags after --, and from the file in CT_CONFIG_FILE. The\nticket goes into the state folder. Calls in progress finish when it is stopped.',
    examples: [
      'ct-agent service print systemd -- --listen 0.0.0.0:4433 --advertise agent.example.org:4433',
      'ct-agent service print systemd --user -- --broker broker.example.org:4435',
      'ct-agent service print launchd > ~/Library/LaunchAgents/ct-agent.plist',
    ],
    exits: true,
    rows: WITH_STATE,
    options: [{ name: 'user', about: 'For systemd: a unit of this user, which runs while the user is signed in' }],
    load: async () => (await import('./offline.ts')).servicePrint,
  },
]
