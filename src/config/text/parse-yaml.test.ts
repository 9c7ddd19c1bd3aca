import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatProblem } from '../problem.ts';
import { descend, toPlain } from '../settings/setting-node.ts';
import type { SettingNode } from '../settings/setting-node.ts';
import { parseYaml } from './parse-yaml.ts';

const rootOf = (text: string): SettingNode => {
  const parsed = parseYaml(text, 'config.yaml');
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problems.map(formatProblem).join('\n'));
  return parsed.root;
};

const faultOf = (text: string): string => {
  const parsed = parseYaml(text, 'config.yaml');
  assert.ok(!parsed.ok, 'expected a problem');
  return formatProblem(parsed.problems[0]!);
};

const placeOf = (text: string, path: readonly (string | number)[]): string => {
  const { node, rest } = descend(rootOf(text), path);
  assert.deepEqual(rest, []);
  assert.equal(node.at.kind, 'file');
  return node.at.kind === 'file' ? `${node.at.line}:${node.at.column}` : '';
};

test('values know their line and column in block and flow style, with comments, CRLF and a byte order mark gone', () => {
  const text = '# first\nhttp:\n  # inside\n  port: 8642 # behind\nmodel: { provider: demo,\n  api_key: "x" }\nlist:\n  - a\n  - { b: 1 }\n';
  assert.equal(placeOf(text, ['http', 'port']), '4:9');
  assert.equal(placeOf(text, ['model', 'provider']), '5:20');
  assert.equal(placeOf(text, ['model', 'api_key']), '6:12');
  assert.equal(placeOf(text, ['list', 1, 'b']), '9:10');
  assert.equal(placeOf(text.replaceAll('\n', '\r\n'), ['model', 'api_key']), '6:12');
});

test('a mapping is placed at its key, so that what is missing in it points there', () => {
  assert.equal(placeOf('platforms:\n  telegram:\n    enabled: true\n', ['platforms', 'telegram']), '2:3');
});

test('an empty file, and one of comments only, is an empty mapping', () => {
  for (const text of ['', '\n\n', '# nothing\n', '---\n', 'null\n']) assert.deepEqual(toPlain(rootOf(text)), {});
});

test('big numbers keep what was written', () => {
  const { node } = descend(rootOf('id: 12345678901234567890\n'), ['id']);
  assert.equal(node.kind === 'scalar' && node.source, '12345678901234567890');
});

test('anchors, aliases and merge keys work, and keys beside a merge win', () => {
  const text = 'base: &base { a: 1, b: 2 }\none: *base\ntwo:\n  <<: *base\n  b: 3\nthree:\n  <<: [*base, { c: 4 }]\n';
  assert.deepEqual(toPlain(rootOf(text)), { base: { a: 1, b: 2 }, one: { a: 1, b: 2 }, two: { b: 3, a: 1 }, three: { a: 1, b: 2, c: 4 } });
});

test('syntax errors carry line and column and never quote the source', () => {
  const cases: readonly [string, RegExp][] = [
    ['http:\n\tport: 1\n', /^config\.yaml:2:1 {2}a tab is used/],
    ['a: 1\nb: [1, 2\nc: 3\n', /^config\.yaml:[23]:\d+ /],
    ['a: 1\na: 2\n', /^config\.yaml:2:1 {2}.*second time/],
    ['m: { a: 1, a: 2 }\n', /^config\.yaml:1:12 {2}.*second time/],
    ['a: "sekrit-open\n', /^config\.yaml:\d+:\d+ /],
    ['a: *sekrit\n', /^config\.yaml:1:4 {2}a {2}this alias/],
    ['a: @sekrit\n', /^config\.yaml:1:4 {2}.*quotes/],
    ['a: !sekrit x\n', /^config\.yaml:1:4 {2}this tag/],
    ['a: 1\n---\nb: 2\n', /^config\.yaml:2:1 {2}a second document/],
    ['- sekrit\n', /^config\.yaml:1:1 {2}the file must be a mapping .* not a list/],
    ['sekrit\n', /^config\.yaml:1:1 {2}the file must be a mapping .* not a bare value/],
    ['? [a, b]\n: c\n', /^config\.yaml:1:\d+ {2}a key must be text/],
    ['a: sekrit: b\n', /^config\.yaml:1:\d+ /],
  ];
  for (const [text, expected] of cases) {
    const fault = faultOf(text);
    assert.match(fault, expected, text);
    assert.doesNotMatch(fault, /sekrit/, text);
  }
});

test('what would grow without end is refused', () => {
  const laughs = `a: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefghij'.split('').map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[index]}`).join(',')}]`).join('\n')}\n`;
  assert.match(faultOf(laughs), /repeated too often/);
  assert.match(faultOf('a: &a [*a]\n'), /nested too deeply|no anchor/);
  assert.match(faultOf(`a: ${'['.repeat(50_000)}\n`), /nested too deeply|config\.yaml:/);
  assert.match(faultOf(`a: ${'['.repeat(100)}${']'.repeat(100)}\n`), /nested too deeply/);
});

test('no text makes it throw', () => {
  const yamlish = fc.string({ unit: fc.constantFrom(...`ab:-{}[],"'#&*!|>%@\n\t ?<.~0`), maxLength: 60 });
  fc.assert(fc.property(fc.oneof(yamlish, fc.string({ unit: 'binary' })), (text) => void parseYaml(text, 'config.yaml')), { numRuns: 200 });
});
