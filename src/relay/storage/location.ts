/**
 * Where the relay keeps its data.
 *
 * @module
 */
export type DatabaseLocation =
  | { readonly kind: 'file'; readonly path: string }
  /** Several relays may share it. */
  | { readonly kind: 'postgres'; readonly url: string }

/** For messages: never the password. */
export function nameOf(location: DatabaseLocation): string {
  if (location.kind === 'file') return location.path
  const url = new URL(location.url)
  return `postgres://${url.host}${url.pathname}`
}
