import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { readScript } from './read-script.ts';

const facts = { cwd: '/', home: '/h', parentPid: 1 };
const hasBash = spawnSync('bash', ['--version']).status === 0;

/** Words of everything that changes how a word is read, and nothing that depends on the machine. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', '3', '-', '/', ',', '.', '..', '{', '}', '{a,b}', '{1..3}', '{b..d}', "'", '"', '\\', "$'", '\\x41', '\\n', "\\'", '=', '%', '+', ':'), minLength: 1, maxLength: 12 });

/** The fields that bash makes of each word, as lists. */
const fieldsInBash = (words: readonly string[]): readonly (readonly string[])[] => {
  const script = words.map((each) => `printf '%s\\0' _ ${each}; printf END-OF-WORD`).join('\n');
  const { stdout } = spawnSync('bash', ['-s'], { input: script, encoding: 'latin1', env: {}, maxBuffer: 1e8 });
  return stdout.split('END-OF-WORD').slice(0, -1).map((list) => list.split('\0').slice(1, -1));
};

test('a word that is certain becomes the same fields in bash', { skip: hasBash ? false : 'there is no bash' }, () => {
  const certain = fc
    .sample(word, { numRuns: 3000, seed: 7 })
    .map((source) => ({ source, reading: readScript(`p ${source}`, facts) }))
    .filter(({ source, reading: { calls, doubts } }) => doubts.length === 0 && calls.length === 1 && calls[0]?.args.every((field) => !field.computed && !/[\u0080-\uffff]/.test(field.text)) === true && spawnSafe(source));
  assert.ok(certain.length > 500);
  const actual = fieldsInBash(certain.map(({ source }) => source));
  for (const [index, { source, reading }] of certain.entries()) {
    assert.deepEqual(reading.calls[0]?.args.map((field) => field.text), actual[index], source);
  }
});

/** A backslash at the very end would join the word with the next line of the batch. */
const spawnSafe = (source: string): boolean => !source.endsWith('\\');
