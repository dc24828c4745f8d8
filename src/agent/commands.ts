/**
 * The command table: what there is, what each takes, and where its code is. What talks to peers loads when it runs.
 *
 * @module
 */
import { CARD_ENV } from '../cards/config.ts'
import { CHANNEL_ENV, MEMBER_ENV } from '../channel/config.ts'
import { BROKERED_ENV } from '../channel/rendezvous/config.ts'
import { type EnvRow } from '../core/env.ts'
import { SERVICE_ENV } from '../mcp/services/config.ts'
import { UPSTREAM_ENV } from '../mcp/upstream/config.ts'
import { OFFER_ENV } from '../offers/config.ts'
import { VERIFY_ENV } from './artefacts/verify-settings.ts'
import { CALL_ENV } from './calling/call-settings.ts'
import { type Command } from './command.ts'
import { ARTEFACT_COMMANDS } from './commands/artefact-commands.ts'
import { BROKER_COMMANDS } from './commands/broker-commands.ts'
import { printEnv } from './commands/help-env.ts'
import { HOST_COMMANDS } from './commands/host-commands.ts'
import { channelInit, operatorInit } from './commands/init.ts'
import { MARKET_COMMANDS } from './commands/market-commands.ts'
import { MEMBER_COMMANDS } from './commands/member-commands.ts'
import { OBSERVING_COMMANDS } from './commands/observing-commands.ts'
import { OPERATOR_COMMANDS } from './commands/operator-commands.ts'
import { PEER_COMMANDS } from './commands/peer-commands.ts'
import { REGISTRY_COMMANDS } from './commands/registry-commands.ts'
import { RELAY_COMMANDS } from './commands/relay-commands.ts'
import { SETUP_COMMANDS } from './commands/setup-commands.ts'
import { ASKING, JSON_OPTION, TO_BROKER, WITH_STATE } from './commands/shared-rows.ts'
import { SIGNING_COMMANDS } from './commands/signing-commands.ts'
import { ROSTER_ENV } from './members/member-settings.ts'
import { OBSERVING_ENV } from './observing/observing-settings.ts'
import { REGISTRY_ENV } from './registry/registry-settings.ts'
import { TICKET_GRANT_ENV } from './serving/ticket-settings.ts'
import { COMMON_ENV } from './settings.ts'

const { drainSeconds } = COMMON_ENV
const { role, address, noiseKey, holderKey, peerNoiseKeys, peerHolders, peerCert, listen, advertise, ...serving } =
  CHANNEL_ENV
const { serve: serveSwitch, serveOnce, concurrency, peerSessions, idleSeconds, messageBytes } = serving

/** What a serving side publishes about itself, signed by its holder. */
const PUBLISHED: readonly EnvRow<unknown>[] = [
  CARD_ENV.roles,
  CARD_ENV.skills,
  CARD_ENV.channels,
  CARD_ENV.cells,
  CARD_ENV.ttlSeconds,
  ...Object.values(OFFER_ENV),
  VERIFY_ENV.skewSeconds,
]

const PEER_DETAILS =
  'The peer is one that was joined, by its name, or a ticket. That comes from CT_TICKET, from a file (@file) or stdin (-),\nor stands there itself: it is a secret, and other users of this machine can see command lines. An invitation is\nredeemed first, and the peer is remembered.'

export const COMMANDS: readonly Command[] = [
  {
    words: ['demo'],
    operands: '',
    arity: [0, 0],
    about: 'Show two agents at work on this machine: one serves, the other lists, pings and calls',
    examples: ['ct-agent demo'],
    exits: true,
    rows: [],
    options: [],
    load: async () => (await import('./commands/online.ts')).demo,
  },
  {
    words: ['serve'],
    operands: '[-- <command of an MCP server>]',
    arity: [0, 0],
    about: 'Serve tools and print the ticket that leads here',
    details:
      'The first line on stdout is the ticket: whoever has it may call, so pass it on in private. With --allow only the\nnamed keys may call, and the ticket is no secret. The ticket stays the same from run to run until --new-ticket makes\nanother: whoever has an old one is then refused.\n\nWith --broker nobody has to reach this machine: the ticket leads to the broker, and the broker to here. Such a ticket\nis always a secret, and good for --ticket-days; with --allow only the named keys may use it.\n\nAfter -- comes the command of an MCP server on stdin and stdout: its tools, resources and prompts are served too. It\nsees none of the CT_ variables, runs once for each peer, and ends with this program.',
    rest: UPSTREAM_ENV.command,
    examples: [
      'ct-agent serve',
      "ct-agent serve --handler './summarise.sh' --services text_generation",
      'ct-agent serve -- npx -y @modelcontextprotocol/server-filesystem /srv/shared',
      'ct-agent serve --ticket-file peer.ticket --new-ticket',
      'ct-agent serve --listen 0.0.0.0:4433 --advertise agent.example.org:4433',
      'ct-agent serve --broker /dns/broker.example.org/tcp/4435',
    ],
    exits: false,
    rows: [
      listen,
      advertise,
      ...TO_BROKER,
      BROKERED_ENV.relayOnly,
      TICKET_GRANT_ENV.days,
      ...Object.values(ROSTER_ENV),
      peerHolders,
      peerNoiseKeys,
      ...Object.values(SERVICE_ENV),
      ...Object.values(UPSTREAM_ENV),
      ...PUBLISHED,
      ...Object.values(OBSERVING_ENV),
      REGISTRY_ENV.isListed,
      concurrency,
      peerSessions,
      serveOnce,
      idleSeconds,
      messageBytes,
      holderKey,
      noiseKey,
      drainSeconds,
      ...WITH_STATE,
    ],
    options: [
      JSON_OPTION,
      {
        name: 'ticket-file',
        value: 'file',
        about: 'Write the ticket into this file, for its owner alone, not to stdout',
      },
      { name: 'new-ticket', about: 'Make a new secret for the ticket; those given out before are refused from now on' },
    ],
    load: async () => (await import('./commands/online.ts')).serve,
  },
  {
    words: ['tools'],
    operands: '[<peer>]',
    arity: [0, 1],
    about: 'List the tools of a peer',
    details: `${PEER_DETAILS} An operand goes before CT_TICKET.`,
    examples: [
      'ct-agent tools bob',
      'CT_TICKET=… ct-agent tools',
      'ct-agent tools @peer.ticket --json',
      'ct-agent tools ct1…',
    ],
    exits: true,
    rows: ASKING,
    options: [JSON_OPTION],
    load: async () => (await import('./commands/online.ts')).tools,
  },
  {
    words: ['call'],
    operands: '[<peer>] <tool> [arguments as JSON]',
    arity: [1, 3],
    about: 'Call one tool of a peer and print its result',
    details: `${PEER_DETAILS}\n\nWith CT_TICKET the first operand is the tool, unless it is a ticket, or what follows it cannot be arguments: then it\nis the peer, and CT_TICKET is not used.\n\nArguments are a JSON object, or - to read one from stdin; or each by itself: --arg name=text takes the text as it\nstands, --arg name:=json any JSON, such as 3, true or [1,2].\n\nPrints the result as one JSON line; of a service, whose result is {"output": text}, the bare text. A result that says\nthat the tool failed is printed too, and ends the command as a failure. With --out, images, sounds and files in the\nresult are written to disk, and the result names them in "file" instead; their names are made here, not by the peer.`,
    examples: [
      'ct-agent call bob ping',
      'CT_TICKET=… ct-agent call ping',
      `ct-agent call @peer.ticket service/text_generation '{"input":"a haiku about relays"}'`,
      'ct-agent call bob search --arg query=relays --arg limit:=5',
      "ct-agent call bob draw --arg 'what=a heron' --out pictures/ --progress",
      'ct-agent call - service/safety_check --input report.txt < peer.ticket',
      'ct-agent call @peer.ticket service/safety_check --input report.txt --match purchase/match.json --receipt r.json',
    ],
    exits: true,
    rows: ASKING,
    options: [
      JSON_OPTION,
      {
        name: 'arg',
        value: 'name=text or name:=json',
        repeats: true,
        about: 'One argument; may be given several times',
      },
      {
        name: 'progress',
        about: 'Write lines to stderr that say how far the call is, if the tool tells; a terminal shows it anyway',
      },
      { name: 'input', value: 'file', about: 'Send the text of this file, or of stdin with -, as {"input": text}' },
      {
        name: 'out',
        value: 'folder/ or file',
        about: 'Write binary content of the result there: into the folder, or, of one thing, into the file',
      },
      { name: 'force', about: 'Let --out replace files that are there' },
      {
        name: 'receipt',
        value: 'file',
        about: 'Write a usage receipt here that both sides signed, or after the result with -; of a service',
      },
      { name: 'match', value: 'file', about: 'The match that the receipt is about, as offer fetch --bid keeps it' },
      { name: 'units', value: 'number', about: 'Units of it that the call consumed; 1 unless given' },
    ],
    needs: { force: 'out', receipt: 'match', match: 'receipt', units: 'receipt' },
    load: async () => (await import('./commands/online.ts')).call,
  },
  {
    words: ['channel'],
    operands: '',
    arity: [0, 0],
    about: 'Join a channel as the variables say: serve, call, or pipe stdin and stdout',
    details:
      'With CT_CHANNEL_CALL_SERVICE or CT_CHANNEL_CALL it calls, with CT_CHANNEL_SERVE=1 it serves, else it pipes stdin\nto the peer and the peer to stdout. With CT_CHANNEL_BROKER both members meet at a broker: each needs its grant and the\nkey of the operator, and neither has to be reachable.',
    examples: [
      'CT_CHANNEL_ROLE=accept CT_CHANNEL_ADDR=127.0.0.1:4433 CT_CHANNEL_SERVE=1 ct-agent channel',
      'CT_CHANNEL_ROLE=initiate CT_CHANNEL_ADDR=127.0.0.1:4433 CT_CHANNEL_CALL=tools/list ct-agent channel',
      'CT_CHANNEL_ROLE=initiate CT_CHANNEL_BROKER=broker.example:4435 CT_CHANNEL_GRANT=… CT_CHANNEL_OPERATOR_PUBKEY=… ct-agent channel',
    ],
    exits: false,
    compatible: true,
    rows: [
      role,
      address,
      ...Object.values(BROKERED_ENV),
      MEMBER_ENV.operator,
      listen,
      advertise,
      noiseKey,
      holderKey,
      peerNoiseKeys,
      peerHolders,
      peerCert,
      serveSwitch,
      serveOnce,
      concurrency,
      peerSessions,
      idleSeconds,
      messageBytes,
      ...Object.values(CALL_ENV),
      ...Object.values(SERVICE_ENV),
      ...Object.values(UPSTREAM_ENV),
      ...PUBLISHED,
      ...Object.values(OBSERVING_ENV),
      drainSeconds,
      ...WITH_STATE,
    ],
    options: [],
    load: async () => (await import('./commands/online.ts')).channel,
  },
  {
    words: ['channel', 'init'],
    operands: '',
    arity: [0, 0],
    about: 'Make the keys of a member and print them for eval',
    examples: ['eval "$(ct-agent channel init)"'],
    exits: true,
    compatible: true,
    rows: [],
    options: [],
    load: () => Promise.resolve(channelInit),
  },
  {
    words: ['channel', 'operator-init'],
    operands: '',
    arity: [0, 0],
    about: 'Make the key of a channel operator and print it for eval',
    examples: ['eval "$(ct-agent channel operator-init)"'],
    exits: true,
    compatible: true,
    rows: [],
    options: [],
    load: () => Promise.resolve(operatorInit),
  },
  ...MEMBER_COMMANDS,
  ...PEER_COMMANDS,
  ...HOST_COMMANDS,
  ...SETUP_COMMANDS,
  ...BROKER_COMMANDS,
  ...RELAY_COMMANDS,
  ...SIGNING_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...MARKET_COMMANDS,
  ...ARTEFACT_COMMANDS,
  ...REGISTRY_COMMANDS,
  ...OBSERVING_COMMANDS,
  {
    words: ['help', 'env'],
    operands: '',
    arity: [0, 0],
    about: 'Print every variable with its meaning and default',
    examples: ['ct-agent help env', 'ct-agent help env --json'],
    exits: true,
    rows: [],
    options: [JSON_OPTION],
    load: () => Promise.resolve(printEnv),
  },
]
