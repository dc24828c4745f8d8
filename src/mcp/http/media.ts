/**
 * What a client sends and takes.
 *
 * @module
 */

export interface Accepts {
  readonly json: boolean
  readonly events: boolean
}

/** Older than the standard or simpler than it wants: who names neither of the two takes both when it takes anything. */
export function readAccept(accept: string | undefined): Accepts {
  if (accept === undefined || accept.trim() === '') return { json: true, events: true }
  const ranges = accept.split(',').map(readRange)
  const takes = (type: string, family: string): boolean =>
    // The most exact range decides.
    ([type, family, '*/*'].map((name) => ranges.find((range) => range.name === name)).find(Boolean)?.weight ?? 0) > 0
  return { json: takes('application/json', 'application/*'), events: takes('text/event-stream', 'text/*') }
}

function readRange(range: string): { readonly name: string; readonly weight: number } {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
  return { name, weight: Number.isFinite(weight) ? weight : 1 }
}

/** JSON is UTF-8 and nothing else. */
export function isJsonType(contentType: string | undefined): boolean {
  const [name = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  return name === 'application/json' && (charset === undefined || /^"?utf-?8"?$/.test(charset))
}
