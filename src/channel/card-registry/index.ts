/** The card registry of a broker, for those who ask it. */
export { type CardRegistryLink, openCardRegistry } from './client.ts'
export { type CardQuery, MAX_PAGE_CARDS } from './messages.ts'
