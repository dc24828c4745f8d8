/**
 * The description of the API, made from what checks the requests.
 *
 * @see https://spec.openapis.org/oas/v3.1.1
 * @module
 */
import { z } from 'zod'
import { type Operation } from '../operation.ts'
import { REFUSALS } from '../refusal.ts'

const ERROR = {
  description: 'A refusal: its code says why',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['code', 'message', 'retryable'],
            properties: {
              code: { type: 'string', enum: Object.keys(REFUSALS) },
              message: { type: 'string' },
              retryable: { type: 'boolean' },
            },
          },
        },
      },
    },
  },
}

type JsonObject = Record<string, unknown>

export function describeApi(operations: readonly Operation[], publicUrl: string, version: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const operation of operations) {
    const { rest } = operation
    if (rest !== undefined) paths[rest.path] = { ...paths[rest.path], [rest.method]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'ct-agent relay', version },
    servers: [{ url: publicUrl }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths,
  }
}

function describe({ name, about, rest, input, output, isOpen }: Operation): JsonObject {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, JsonObject>
    required?: string[]
  }
  const properties = Object.entries(schema.properties ?? {})
  const inPath = new Set([...(rest?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, field]) => field))
  const required = new Set(schema.required)
  const rests = properties.filter(([field]) => !inPath.has(field))
  const parameter =
    (where: 'path' | 'query') =>
    ([field, of]: [string, JsonObject]): JsonObject => ({
      name: field,
      in: where,
      required: where === 'path' || required.has(field),
      schema: of,
    })
  const isQuery = rest?.method === 'get'
  const status = String(rest?.status ?? 200)
  return {
    operationId: name,
    summary: about,
    security: isOpen === true ? [{}, { bearer: [] }] : [{ bearer: [] }],
    parameters: [
      ...properties.filter(([field]) => inPath.has(field)).map(parameter('path')),
      ...(isQuery ? rests.map(parameter('query')) : []),
    ],
    ...(isQuery || rests.length === 0
      ? {}
      : {
          requestBody: {
            required: rests.some(([field]) => required.has(field)),
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: Object.fromEntries(rests),
                  required: rests.map(([field]) => field).filter((field) => required.has(field)),
                },
              },
            },
          },
        }),
    responses: {
      [status]: {
        description: 'Done',
        ...(status === '204'
          ? {}
          : {
              content: {
                'application/json': { schema: z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }) },
              },
            }),
      },
      default: ERROR,
    },
  }
}
