/**
 * Kinds of service as offers and bids name them: four that every agent knows, and any other by its name.
 *
 * @module
 */
import { type ExactJson, writeExactJson } from '../core/exact-json.ts'
import { isExactObject, own, type Read, text, unexpected } from '../core/json-shape.ts'
import { type Preimage } from '../core/preimage.ts'
import { escapeUnprintable } from '../core/printable.ts'

const FIXED_SERVICES = {
  CodeGeneration: { tag: 0, name: 'code_generation' },
  SecurityReview: { tag: 1, name: 'security_review' },
  SafetyCheck: { tag: 2, name: 'safety_check' },
  TextGeneration: { tag: 3, name: 'text_generation' },
} as const

type FixedService = keyof typeof FIXED_SERVICES

/** In the form in which artefacts write it: `"SafetyCheck"`, `{"Custom": "static_analysis"}`. */
export type ServiceKind = FixedService | { readonly Custom: string }

const CUSTOM_TAG = 4

/** The kind that an operator means by this name: the four by theirs, every other name as it stands. */
export function serviceKindOf(name: string): ServiceKind {
  for (const [kind, fixed] of Object.entries(FIXED_SERVICES)) if (fixed.name === name) return kind as FixedService
  return { Custom: name }
}

/** How an operator writes it; a custom kind that is called like one of the four cannot be written. */
export function nameOfService(kind: ServiceKind): string {
  return typeof kind === 'string' ? FIXED_SERVICES[kind].name : kind.Custom
}

/** As the original's log shows it: `SafetyCheck`, `Custom("static_analysis")`; on one line, whatever the name. */
export function describeService(kind: ServiceKind): string {
  return typeof kind === 'string' ? kind : `Custom(${escapeUnprintable(JSON.stringify(kind.Custom))})`
}

export function isSameService(left: ServiceKind, right: ServiceKind): boolean {
  if (typeof left === 'string' || typeof right === 'string') return left === right
  return left.Custom === right.Custom
}

export const serviceKind: Read<ServiceKind> = (value, at) => {
  if (typeof value === 'string' && Object.hasOwn(FIXED_SERVICES, value)) return value as FixedService
  if (isExactObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, 'Custom')) {
    return { Custom: text(own(value, 'Custom'), `${at}.Custom`) }
  }
  throw unexpected(at, `${Object.keys(FIXED_SERVICES).join('|')} or {"Custom": name}`, value)
}

export function addService(preimage: Preimage, kind: ServiceKind): void {
  if (typeof kind === 'string') preimage.tag(FIXED_SERVICES[kind].tag)
  else preimage.tag(CUSTOM_TAG).text(kind.Custom)
}

export function serviceJson(kind: ServiceKind): ExactJson {
  return typeof kind === 'string' ? kind : { Custom: kind.Custom }
}

/** The kind as one text, the same for the same kind. */
export function serviceText(kind: ServiceKind): string {
  return writeExactJson(serviceJson(kind))
}
