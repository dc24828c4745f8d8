/**
 * The command of whoever runs a broker.
 *
 * @module
 */
import { BROKER_ENV } from '../../channel/broker/config.ts'
import { type Command } from '../command.ts'
import { COMMON_ENV } from '../settings.ts'
import { WITH_STATE } from './shared-rows.ts'

export const BROKER_COMMANDS: readonly Command[] = [
  {
    words: ['broker'],
    operands: '',
    arity: [0, 0],
    about: 'Run a broker: members of a channel find each other here, and are relayed where nothing else works',
    details:
      'The first line on stdout is the one string that members put into CT_CHANNEL_BROKER. It stays the same from run to\nrun where the ports do: the key of the broker is kept in its state folder. Members do not have to trust a broker: it\nsees who meets whom and how many bytes go by, never what is said. A member that only gets out by port 443 needs an\naddress in --ws-listen there, and a certificate. The broker also keeps the agent cards that their holders publish, for\nothers to find: see ct-agent card find --help.',
    examples: [
      'ct-agent broker',
      'ct-agent broker --listen 0.0.0.0:4435,[::]:4435 --advertise broker.example.org:4435',
      'ct-agent broker --ws-listen 0.0.0.0:443 --tls-cert fullchain.pem --tls-key privkey.pem',
      'ct-agent broker --operators 3b6a… --http-listen 127.0.0.1:9435',
    ],
    exits: false,
    rows: [...Object.values(BROKER_ENV), COMMON_ENV.drainSeconds, ...WITH_STATE],
    options: [{ name: 'json', about: 'Print addresses and identity as one JSON line' }],
    load: async () => (await import('./broker.ts')).broker,
  },
]
