/**
 * What columns hold.
 *
 * Holds for every table: ids are UUIDs of version 7; times are Unix milliseconds; truth values are 0 or 1; values of JSON
 * are kept as text. Other engines know all of these too.
 *
 * @module
 */
export type Id = string
export type UnixMs = number
export type Flag = 0 | 1
export type Json = string
