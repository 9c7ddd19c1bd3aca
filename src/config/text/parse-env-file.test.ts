import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatProblem } from '../problem.ts';
import { editEnvFile, quoteValue } from './edit-env-file.ts';
import { parseEnvFile } from './parse-env-file.ts';
import type { EnvFile } from './parse-env-file.ts';

const parse = (text: string, outer: Readonly<Record<string, string>> = {}): EnvFile => parseEnvFile(text, '.env', (name) => outer[name]);
const values = (text: string, outer: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => {
  const { entries, problems } = parse(text, outer);
  assert.deepEqual(problems.map(formatProblem), []);
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
};

test('comments, export, blanks and all three kinds of quoting are understood', () => {
  const text = ['# a comment', '', 'A=plain', 'export B=exported', '  C = spaced  ', 'D=with # comment', 'E=with#hash', "F='single # $X ${A} \\n'", 'G="double \\"q\\" \\n \\$ # kept" # gone', 'H=', 'I=""', 'J=a=b=c', 'K=#nothing'].join('\n');
  assert.deepEqual(values(text), {
    A: 'plain', B: 'exported', C: 'spaced', D: 'with', E: 'with#hash', F: 'single # $X ${A} \\n', G: 'double "q" \n $ # kept', H: '', I: '', J: 'a=b=c', K: '',
  });
});

test('values in quotes may span lines, and later lines are still counted right', () => {
  const { entries } = parse("KEY='-----BEGIN\nabc\n-----END'\nNEXT=1\r\nLAST=2");
  assert.deepEqual(entries.map(({ name, value, line }) => [name, value, line]), [['KEY', '-----BEGIN\nabc\n-----END', 1], ['NEXT', '1', 4], ['LAST', '2', 5]]);
});

test('references are replaced outside single quotes, from the environment first and then from lines above', () => {
  assert.deepEqual(values('A=one\nB=${A}-x\nC="${A} ${NONE:-fallback}"\nD=\'${A}\'\nE="\\${A}"\nF=$${A}', { A: 'outer' }), {
    A: 'one', B: 'outer-x', C: 'outer fallback', D: '${A}', E: '${A}', F: '${A}',
  });
});

test('a line that is not understood is a problem with its line, and its text is not repeated', () => {
  const cases: readonly [string, RegExp][] = [
    ['A=1\nTOKEN sekrit\n', /^\.env:2:1 {2}this line is not NAME=value$/],
    ['\n\nTOKEN="sekrit\n', /^\.env:3:1 .*TOKEN.*closing " is missing/],
    ["TOKEN='sekrit' sekrit\n", /^\.env:1:1 .*follows the closing quote/],
    ['1TOKEN=sekrit\n', /not NAME=value/],
    ['A=x${MISSING}y', /^\.env:1:1 .*the variable MISSING is not set/],
  ];
  for (const [text, expected] of cases) {
    const [problem] = parse(text).problems;
    assert.ok(problem !== undefined, text);
    assert.match(formatProblem(problem), expected);
    assert.doesNotMatch(formatProblem(problem), /sekrit/);
  }
});

test('a broken line does not hide the ones after it', () => {
  assert.deepEqual(parse('A="open\nB=2\n').entries.map(({ name }) => name), ['B']);
});

test('whatever is written is read back exactly', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      assert.deepEqual(values(`X=1\nNAME=${quoteValue(value)}\nY=2\n`), { X: '1', NAME: value, Y: '2' });
    }),
    { numRuns: 200 },
  );
});

test('an edit replaces the assignment in its place and leaves everything else alone', () => {
  const text = '# head\nexport TOKEN="old" # why\nOTHER=1\n';
  assert.equal(editEnvFile(text, 'TOKEN', 'new'), '# head\nexport TOKEN=new # why\nOTHER=1\n');
  assert.equal(editEnvFile(text, 'THIRD', 'a b'), "# head\nexport TOKEN=\"old\" # why\nOTHER=1\nTHIRD='a b'\n");
  assert.equal(editEnvFile(text, 'TOKEN', undefined), '# head\nOTHER=1\n');
  assert.equal(editEnvFile('A=1', 'B', '2'), 'A=1\nB=2\n');
  assert.equal(editEnvFile('', 'B', "it's"), 'B="it\'s"\n');
});

test('of several assignments of one name only the last is left after an edit', () => {
  assert.equal(editEnvFile("A=1\nB='x\ny'\nA=2\n", 'A', '3'), "B='x\ny'\nA=3\n");
  assert.equal(editEnvFile("A=1\nB=2\nA='x\ny'\n", 'A', undefined), 'B=2\n');
});
