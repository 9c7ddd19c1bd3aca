import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsed } from '../plain-json.ts';
import { parseJson5 } from './parse-json5.ts';

test('JSON as people write it is read', () => {
  const written = `\uFEFF// a comment
  { a:1, 'b': "x\\u0041\\
y", $c : [1, .5, +2, 0x10, -3e2, Infinity,], /* another */ "d": {}, e: 'it\\'s', 'f-g': null,\th: true, "u": "https://x.y/z // no comment", __proto__: 3, }`;
  assert.deepEqual(Object.entries(parseJson5(written) as object), [['a', 1], ['b', 'xAy'], ['$c', [1, 0.5, 2, 16, -300, Infinity]], ['d', {}], ['e', "it's"], ['f-g', null], ['h', true], ['u', 'https://x.y/z // no comment'], ['__proto__', 3]]);
});

test('ids that are longer than a number can be stay as they are written', () => {
  const written = '{"a":[1234567890123456789,12345678901,9007199254740994,-7]}';
  for (const read of [parseJson5, parsed]) assert.deepEqual(read(written), { a: ['1234567890123456789', 12_345_678_901, 9_007_199_254_740_994, -7] });
});

test('what is not JSON is nothing', () => {
  for (const written of ['', '{', '{a b}', '[1 2]', '{a:1} x', '{"a":}', 'undefined', '{a:1,,}', '"open', '[,]', '['.repeat(5000)]) assert.equal(parseJson5(written), undefined, written.slice(0, 20));
});

test('whatever JSON says is read as it is', () => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, indent) => assert.deepEqual(parseJson5(JSON.stringify(value, null, indent)), JSON.parse(JSON.stringify(value)))), { numRuns: 200 });
});
