/**
 * The commands of buyers and sellers that need a peer or the book of sales.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { BID_ENV } from '../../offers/config.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { CALL_ENV, TICKET_ENV } from '../calling/call-settings.ts'
import { type Command } from '../command.ts'
import { JSON_OPTION, TO_PEER, WITH_STATE } from './shared-rows.ts'

export const MARKET_COMMANDS: readonly Command[] = [
  {
    words: ['offer', 'fetch'],
    operands: '[<peer>]',
    arity: [0, 1],
    about: "Fetch a peer's offer and card, examine them, and buy with --bid",
    details:
      'Checks in one session that the offer and the card hold and are signed by the peer itself, and that the peer serves\nno service that its offer does not declare. Whatever is wrong is listed, and the status is that of the first finding.\nWith --bid it then signs a bid, submits it, and computes the match itself before it believes it.\nIf no answer comes, submit the same bid again with --submit, from its folder: it is never sold twice.',
    examples: [
      'CT_TICKET=… ct-agent offer fetch',
      'ct-agent offer fetch @peer.ticket --json',
      'ct-agent offer fetch @peer.ticket --bid --units 10 --price 60 --save purchase',
    ],
    exits: true,
    rows: [TICKET_ENV.ticket, ...Object.values(BID_ENV), ...Object.values(VERIFY_ENV), CALL_ENV.reconnect, ...TO_PEER],
    options: [
      JSON_OPTION,
      { name: 'bid', about: 'Sign a bid and submit it, unless something is wrong with the offer' },
      {
        name: 'submit',
        value: 'file',
        about: 'Submit this bid, signed before; a seller answers a bid it matched with the same match again',
      },
      {
        name: 'save',
        value: 'folder',
        about: 'Keep offer.json, card.json, bid.json and match.json in this folder, which holds no other purchase',
      },
    ],
    needs: Object.fromEntries(Object.values(BID_ENV).map(({ flag }) => [flag, 'bid'])),
    load: async () => (await import('./online.ts')).offerFetch,
  },
  {
    words: ['offer', 'book'],
    operands: '',
    arity: [0, 0],
    about: 'Show what this agent sold; with --reset, begin its book of sales anew',
    details:
      'What is sold stays sold over restarts, and whatever else the offer says. After --reset all units of\nCT_AGENT_OFFER_UNITS are on sale again, and bids that were matched before can be booked again.',
    examples: ['ct-agent offer book', 'ct-agent offer book --json', 'ct-agent offer book --reset'],
    exits: true,
    rows: [CHANNEL_ENV.holderKey, ...WITH_STATE],
    options: [JSON_OPTION, { name: 'reset', about: 'Forget every sale: nothing is sold then' }],
    load: async () => (await import('./online.ts')).offerBook,
  },
]
