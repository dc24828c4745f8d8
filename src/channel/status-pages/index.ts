/** Pages that say over HTTP how a program is: of brokers and members alike. */
export { serveStatus } from './http.ts'
