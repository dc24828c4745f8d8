/**
 * JSON texts of numbers and keys that readers differ in.
 *
 * @module
 */
import fc from 'fast-check'

const digits = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.integer({ min: 12, max: 20 }).map((count) => '9'.repeat(count)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('-0', '0', '1.0', '1e3', '-1E-2', '0e0', '999999999999999', '1000000000000000'),
)
const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', '0', '17', 'a"b', 'toString'))
const { any } = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    digits,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '"\\u005c"', '"\\\\"', '[]', '{}', '[ ]', '{\n}'),
    fc.array(tie('any'), { maxLength: 5 }).map((items) => `[${items.join(' ,\t')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('any')), { maxLength: 5, selector: ([name]) => name })
      .map((members) => `{ ${members.map(([name, value]) => `${JSON.stringify(name)} :${value}`).join(',')}\r\n}`),
  ),
}))

export const anyJsonText = any
