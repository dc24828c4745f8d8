/** Encrypted sessions between members. */
export { type Address, formatAddress, parseAddress } from './address.ts'
export type { TrustPolicy } from './admission.ts'
export { createDialler, type Dialler, type Target } from './dial.ts'
export type { SessionLimits, SessionMode } from './hello.ts'
export { type Listener, listen } from './listen.ts'
export type { SelfDescription } from './self.ts'
export { Session, type SessionEnd } from './session.ts'
export { formatTicket, parseTicket, type Ticket } from './ticket.ts'
