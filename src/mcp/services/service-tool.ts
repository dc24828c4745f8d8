/**
 * The tool `service/<slug>`.
 *
 * @module
 */
import { type JsonValue } from '../../core/json.ts'
import { type CallContext, type Tool } from '../tool.ts'
import { type HandlerInput, type HandlerShape } from './handler-shape.ts'
import { type Service } from './slug.ts'

/** Runs the service and gives its result. */
export type RunService = (input: HandlerInput, context: CallContext) => Promise<JsonValue>

export function createServiceTool({ slug }: Service, shape: HandlerShape, run: RunService): Tool {
  const { title, description, inputSchema, outputSchema, read } = shape
  return {
    name: `service/${slug}`,
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema,
    outputSchema,
    idempotent: false,
    call: async (args, context) => run(read(args, context.argumentsText), context),
  }
}
