/**
 * Agent cards, native and in the A2A form, for the commands that verify and show them.
 *
 * @module
 */
import {
  AGENT_CARD,
  type AgentCard,
  CARD_EXTENSION,
  cardJson,
  openCard,
  parseCard,
  verifyA2aCard,
} from '../../cards/index.ts'
import { type Sealed } from '../../core/artefact.ts'
import { type ExactJson, type ExactObject, parseExactJson } from '../../core/exact-json.ts'
import { isExactObject, own } from '../../core/json-shape.ts'
import { type ArtefactReader, type Checked, type Reading } from './artefact-reading.ts'
import { debugTexts, type Field, shownTime } from './shown-fields.ts'

export const CARD_READER: ArtefactReader = {
  name: AGENT_CARD.name,
  read: (text) => {
    const json = parseExactJson(text, AGENT_CARD.name)
    return isA2a(json) ? readA2a(text, json) : readNative(parseCard(typeof json === 'string' ? text : json))
  },
}

/** The line that the original prints of a valid card, without the verdict. */
export function cardLine({ holder, roleTags, expiresAt }: AgentCard): string {
  return `holder=${holder}  role_tags=${debugTexts(roleTags)}  expires_at=${expiresAt}`
}

function readNative(sealed: Sealed<AgentCard>): Reading {
  const { body } = sealed
  return {
    json: cardJson(sealed),
    fields: () => cardFields(body),
    check: (options) => {
      const { form } = openCard(sealed, options)
      return checkedCard(body, form, form === 'legacy' ? '  legacy form' : '')
    },
  }
}

function checkedCard(body: AgentCard, form: Checked['form'], ending: string): Checked {
  return {
    form,
    facts: { holder: body.holder, expires_at: body.expiresAt },
    line: `${cardLine(body)}${ending}`,
  }
}

function cardFields({ holder, roleTags, skills, cells, channels, issuedAt, expiresAt }: AgentCard): readonly Field[] {
  return [
    ['holder', holder],
    ['roles', ...roleTags],
    [
      'skills',
      ...skills.flatMap(({ id, description, examples }) => [described(id, description), ...examples.map(asExample)]),
    ],
    ['cells', ...cells],
    ['channels', ...channels],
    ['issued', shownTime(issuedAt)],
    ['expires', shownTime(expiresAt)],
  ]
}

function described(id: string, description: string): string {
  return description === '' ? id : `${id}: ${description}`
}

function asExample(example: string): string {
  return `for example: ${example}`
}

/** Signed by others than the holder it names: no native card has signatures, and every one names its holder. */
function isA2a(json: ExactJson): json is ExactObject {
  return isExactObject(json) && Object.hasOwn(json, 'signatures') && !Object.hasOwn(json, 'holder_pubkey')
}

function readA2a(text: string, json: ExactObject): Reading {
  return {
    json,
    fields: () => a2aFields(json),
    check: async (options) => {
      const { holder, native } = await verifyA2aCard(text, options)
      if (native !== undefined) return checkedCard(native.body, 'a2a', '  A2A form')
      return { form: 'a2a', facts: { holder }, line: `holder=${holder}  A2A form` }
    },
  }
}

function a2aFields(json: ExactObject): readonly Field[] {
  const interfaces = listIn(json, 'supportedInterfaces').map((item) =>
    [textIn(item, 'protocolBinding'), textIn(item, 'url')].join(' '),
  )
  return [
    ['name', textIn(json, 'name')],
    ['description', textIn(json, 'description')],
    ['version', textIn(json, 'version')],
    ['interfaces', ...interfaces],
    ...nativeFields(json),
  ]
}

/** Of the native card in it, where there is one. */
function nativeFields(json: ExactObject): readonly Field[] {
  const extension = listIn(own(json, 'capabilities'), 'extensions').find(
    (item) => textIn(item, 'uri') === CARD_EXTENSION,
  )
  try {
    return cardFields(parseCard(textIn(isExactObject(extension) ? own(extension, 'params') : undefined, 'card')).body)
  } catch {
    return [['native card', 'none that can be read']]
  }
}

function textIn(value: ExactJson | undefined, key: string): string {
  const found = isExactObject(value) ? own(value, key) : undefined
  return typeof found === 'string' ? found : ''
}

function listIn(value: ExactJson | undefined, key: string): readonly ExactJson[] {
  const found = isExactObject(value) ? own(value, key) : undefined
  return Array.isArray(found) ? found : []
}
