import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../core/errors.ts';
import { checkPlatform } from './check-platform.ts';

interface Checked {
  readonly name: string;
  readonly file: string | null;
  readonly outcomes: readonly { readonly result: string }[];
}

const check = async (home: string, written: string): Promise<Checked> => {
  let out = '';
  await checkPlatform({ env: { HERMES_HOME: home }, version: 'test', write: (text) => void (out += text), writeError: () => undefined }, written, { json: true });
  return JSON.parse(out) as Checked;
};

test('a platform of our own is checked by its name', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-check-'));
  t.after(() => rm(home, { recursive: true }));
  const { name, file, outcomes } = await check(home, 'local');
  assert.deepEqual([name, file], ['local', null]);
  assert.ok(outcomes.some(({ result }) => result === 'met') && outcomes.every(({ result }) => result !== 'broken'));
});

test('a package that a simulator needs and that is not installed is named, with what to do', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-check-'));
  t.after(() => rm(home, { recursive: true }));
  const local = JSON.stringify(new URL('../../platforms/local/index.ts', import.meta.url).href);
  await writeFile(join(home, 'index.js'), `import { local } from ${local};\nexport const platform = { ...local, name: 'needy', label: 'Needy', simulate: () => import('a-package-that-nobody-has') };\n`);
  await assert.rejects(check(home, home), (error) => error instanceof ConfigError && /simulator of Needy needs a package that is not installed: .*a-package-that-nobody-has.*npm install/.test(error.message));
});
