/**
 * Nominal types over plain values: a `Brand<string, 'HolderId'>` is made by one parser and is never a bare string.
 *
 * @module
 */
declare const brand: unique symbol

export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }
