/**
 * The front door of a broker: the way to it from networks that let only port 443 out.
 *
 * Holds: it is a way to the same broker, so where that is pinned, the front door is. What is no certificate is found
 * before anybody is asked.
 *
 * @module
 */
import { X509Certificate } from 'node:crypto'
import { type BrokerPlace, brokerText } from '../channel/index.ts'
import { BROKERED_ENV } from '../channel/rendezvous/config.ts'
import { type Env, type EnvProblem, type EnvValues, invalid, missing, quote, readEnv } from '../core/env.ts'
import { CtError, isCtError } from '../core/errors.ts'
import { readSettingFile } from './input.ts'

const { frontDoor, frontDoorCert, frontDoorOnly } = BROKERED_ENV
const FRONT_DOOR_ENV = { frontDoor, frontDoorCert, frontDoorOnly } as const

export interface FrontDoor {
  readonly places: readonly BrokerPlace[]
  /** In PEM: trusted where TLS is spoken, besides those that everybody trusts. */
  readonly certificates: readonly string[]
  /** No TCP address of the broker is ever dialled. */
  readonly only: boolean
}

export function readFrontDoor(env: Env, problems: EnvProblem[]): FrontDoor {
  return frontDoorOf(readEnv(FRONT_DOOR_ENV, env, problems), problems)
}

export function frontDoorOf(values: EnvValues<typeof FRONT_DOOR_ENV>, problems: EnvProblem[]): FrontDoor {
  const certificates = values.frontDoorCert === undefined ? [] : readCertificates(values.frontDoorCert, problems)
  return { places: values.frontDoor ?? [], certificates, only: values.frontDoorOnly }
}

/**
 * All ways to the broker, as the front door has it.
 *
 * @throws {CtError} `ERR_CONFIG_INVALID` when the front door is to be the only way, and there is none
 */
export function waysTo(broker: readonly BrokerPlace[], door: FrontDoor): readonly BrokerPlace[] {
  const pins = new Set(broker.map(({ peer }) => peer))
  const [pin] = pins
  const { places } = door
  const doors = pins.size === 1 && pin !== undefined ? places.map((place) => ({ peer: pin, ...place })) : places
  const known = new Set(doors.map(brokerText))
  const ways = [...broker.filter((place) => !known.has(brokerText(place))), ...doors]
  const kept = allowed(ways, door)
  if (ways.length === 0 || kept.length > 0) return kept
  throw new CtError('ERR_CONFIG_INVALID', `${frontDoorOnly.name} requires ${frontDoor.name}`, {
    detail: { variables: [frontDoor.name] },
  })
}

/** Those that may be dialled, with what is trusted there. */
export function allowed(
  places: readonly BrokerPlace[],
  { certificates, only }: Omit<FrontDoor, 'places'>,
): readonly BrokerPlace[] {
  return places
    .filter(({ transport }) => !only || transport !== 'tcp')
    .map((place) => (place.transport === 'wss' && certificates.length > 0 ? { ...place, certificates } : place))
}

/** True when the variables name a way to a broker. */
export function hasBroker(env: Env): boolean {
  return [BROKERED_ENV.broker, frontDoor].some(({ name }) => (env[name] ?? '').trim() !== '')
}

/** Of a command that cannot do without a broker. */
export function readBrokerWays(env: Env, problems: EnvProblem[]): readonly BrokerPlace[] {
  const before = problems.length
  const { broker } = readEnv({ broker: BROKERED_ENV.broker }, env, problems)
  const door = readFrontDoor(env, problems)
  if (broker === undefined && door.places.length === 0 && problems.length === before) {
    problems.push(missing(BROKERED_ENV.broker))
  }
  return problems.length === before ? waysTo(broker ?? [], door) : []
}

/** Certificates of a PEM file, or the one that stands there in hex, as the original program has it. */
function readCertificates(text: string, problems: EnvProblem[]): readonly string[] {
  const trimmed = text.trim()
  try {
    const certificates = LOOKS_LIKE_HEX.test(trimmed) ? [fromDer(trimmed)] : fromPem(trimmed)
    if (certificates.length > 0) return certificates
    problems.push(invalid(frontDoorCert, `expected a certificate in ${quote(trimmed)}, found none`))
  } catch (error) {
    if (!isCtError(error)) throw error
    problems.push(invalid(frontDoorCert, error.message))
  }
  return []
}

/** No file of anybody is called so. */
const LOOKS_LIKE_HEX = /^[0-9a-f]{64,}$/i

function fromDer(hex: string): string {
  return certificate(Buffer.from(hex, 'hex'), `${hex.length} characters`)
}

function fromPem(path: string): readonly string[] {
  const blocks = readSettingFile(path).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block, index) => certificate(block, `certificate ${index + 1} of ${quote(path)}`))
}

function certificate(source: Buffer | string, what: string): string {
  try {
    return new X509Certificate(source).toString()
  } catch (cause) {
    throw new CtError('ERR_CONFIG_INVALID', `expected an X.509 certificate, found something else in ${what}`, { cause })
  }
}
