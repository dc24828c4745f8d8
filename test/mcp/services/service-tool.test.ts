import { describe, expect, it } from 'vitest'
import { fixedShape } from '../../../src/mcp/services/handler-shape.ts'
import { createServiceTool } from '../../../src/mcp/services/service-tool.ts'

describe('createServiceTool', () => {
  it('describes the fixed shape in the words of the first implementation', () => {
    const tool = createServiceTool(
      { name: 'Safety-Check', slug: 'safety_check' },
      fixedShape('safety_check'),
      async () => '',
    )
    expect(tool).toMatchObject({
      name: 'service/safety_check',
      description: 'typed safety_check service — fixed {input:string} -> {output:string} shape',
      inputSchema: {
        type: 'object',
        properties: { input: { type: 'string' } },
        required: ['input'],
      },
      outputSchema: {
        type: 'object',
        properties: { output: { type: 'string' } },
        required: ['output'],
      },
      idempotent: false,
    })
  })
})
