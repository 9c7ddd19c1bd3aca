import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { newRedactor } from '../../lib/redact.ts';
import { OwnVariables } from './own-variables.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-env-'));
});
afterEach(() => rm(folder, { recursive: true }));

const opened = async (text?: string) => {
  const path = join(folder, '.env');
  if (text !== undefined) await writeFile(path, text);
  const redactor = newRedactor();
  const variables = new OwnVariables(path, redactor);
  return { path, redactor, variables, problems: await variables.refresh() };
};

test('a file gives what it sets, and nothing of the environment', async () => {
  const { variables, problems } = await opened('KEY=abc\nEMPTY=\nexport QUOTED="a b"\nTWICE=${KEY}d\nHOME_OF=${HOME:-none}\n');
  assert.deepEqual(problems, []);
  assert.deepEqual(['KEY', 'EMPTY', 'QUOTED', 'TWICE', 'HOME_OF', 'PATH'].map((name) => variables.get(name)), ['abc', undefined, 'a b', 'abcd', 'none', undefined]);
});

test('every value that is no ordinary word is known to the redactor, whatever it is called', async () => {
  const { redactor } = await opened('PLAIN=not-called-a-secret\nSHORT=word\nPEM="-----BEGIN-----\nMIIabcdefghijklmnop\n-----END-----"\n');
  assert.equal(redactor.redact('x not-called-a-secret y MIIabcdefghijklmnop word'), 'x *** y *** word');
});

test('a file that changes, comes or goes is read again, one that does not is not', async () => {
  const { path, variables } = await opened();
  assert.equal(variables.get('KEY'), undefined);
  const { version } = variables;
  await variables.refresh();
  assert.equal(variables.version, version);
  await writeFile(path, 'KEY=one\n');
  await variables.refresh();
  assert.deepEqual([variables.get('KEY'), variables.version], ['one', version + 1]);
  await writeFile(path, 'KEY=three\n');
  await variables.refresh();
  assert.equal(variables.get('KEY'), 'three');
  await rm(path);
  await variables.refresh();
  assert.equal(variables.get('KEY'), undefined);
});

test('a file that cannot be read is said, and leaves what was known; a bad line takes only itself away', async () => {
  const { path, variables } = await opened('KEY=one\nnonsense\nMISSING=${NOWHERE}\n');
  assert.equal(variables.get('KEY'), 'one');
  await writeFile(path, 'KEY=one\nnonsense here\n');
  assert.match((await variables.refresh()).join(), /not NAME=value/);
  await rm(path);
  await mkdir(path);
  assert.match((await variables.refresh()).join(), /folder/);
  assert.equal(variables.get('KEY'), 'one');
});
