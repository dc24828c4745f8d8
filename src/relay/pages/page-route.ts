/**
 * One page, or what a form of one leads to.
 *
 * @module
 */
import { type Context } from 'hono'
import { type RelayContext } from '../relay-context.ts'
import { type Visitor } from './visitor.ts'

export interface Visit {
  readonly relay: RelayContext
  readonly context: Context
  /** What was sent; empty for a page that was asked for. */
  readonly form: URLSearchParams
}

interface Described {
  readonly method: 'GET' | 'POST'
  readonly path: string
}

export type PageRoute =
  | (Described & {
      /** Nobody needs to sign in for it. */
      readonly isOpen: true
      readonly show: (visit: Visit & { readonly visitor: Visitor | undefined }) => Response | Promise<Response>
    })
  | (Described & {
      readonly isOpen?: undefined
      readonly show: (visit: Visit & { readonly visitor: Visitor }) => Response | Promise<Response>
    })
