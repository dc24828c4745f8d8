/** The broker; loads the relay's code, which members do not need. */
export { type Broker, type BrokerOptions, createBroker } from './broker.ts'
export type { ListedCard } from './cards.ts'
export { BROKER_ENV } from './config.ts'
