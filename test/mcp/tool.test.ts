import { describe, expect, it } from 'vitest'
import { createToolRegistry, pingTool } from '../../src/mcp/tool.ts'
import { toolOf } from './serve.ts'

describe('createToolRegistry', () => {
  it('refuses two tools with one name', () => {
    const twice = [toolOf('a', () => 1), toolOf('b', () => 1), toolOf('a', () => 2)]
    expect(() => createToolRegistry(twice)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG_INVALID' }))
  })

  it('sorts by the UTF-8 bytes of the names, not by UTF-16 units', () => {
    const names = ['\u{1f600}', '\uffee', 'é', 'b', 'B', 'a/b', 'a_b']
    const registry = createToolRegistry(names.map((name) => toolOf(name, () => 1)))
    expect(registry.list.map(({ name }) => name)).toEqual(['B', 'a/b', 'a_b', 'b', 'é', '\uffee', '\u{1f600}'])
  })

  it('finds tools by exact name only', () => {
    const registry = createToolRegistry([pingTool])
    expect(registry.find('ping')).toBe(pingTool)
    for (const name of ['Ping', 'ping ', '', '__proto__', 'constructor']) expect(registry.find(name)).toBeUndefined()
  })
})
