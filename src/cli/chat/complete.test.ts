import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { applyCompletion, completionsOf } from './complete.ts';
import type { CompletionSources } from './complete.ts';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-complete-'));
  await mkdir(join(folder, 'src', 'inner'), { recursive: true });
  for (const name of ['notes.txt', 'notes-old.txt', '.hidden', join('src', 'main.ts')]) await writeFile(join(folder, name), '');
});

after(() => rm(folder, { recursive: true }));

/** The line after Tab, with `|` for the cursor, and what is left to choose from. */
const tab = async (line: string): Promise<string> => {
  const cursor = line.indexOf('|');
  const text = line.replace('|', '');
  const sources: CompletionSources = { commands: ['new', 'reset', 'resume', 'retry', 'status', 'stop'], sessions: async () => ['Trip to Rome', 'trip plans', '20261115_100000_0a1b2c3d'], folder, userFolder: join(folder, 'src') };
  const { editor, menu } = applyCompletion({ text, cursor, killed: '' }, await completionsOf({ text, cursor, killed: '' }, sources));
  return [`${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`, ...menu].join(' + ');
};

test('commands are completed at the beginning of the line only', async () => {
  assert.equal(await tab('/st|'), '/st| + /status + /stop');
  assert.equal(await tab('/stat|'), '/status |');
  assert.equal(await tab('/|'), '/| + /new + /reset + /resume + /retry + /status + /stop');
  assert.equal(await tab('/res|'), '/res| + /reset + /resume');
  assert.equal(await tab('/RESU|'), '/resume |');
  assert.equal(await tab('/nothing|'), '/nothing|');
  assert.equal(await tab('say /sta|'), 'say /sta|');
});

test('behind /resume conversations are completed by title or id, whatever their case', async () => {
  assert.equal(await tab('/resume 2026|'), '/resume 20261115_100000_0a1b2c3d |');
  assert.equal(await tab('/resume tr|'), '/resume Trip |');
  assert.equal(await tab('/resume trip t|'), '/resume Trip to Rome |');
});

test('anywhere else files are completed, and folders go on', async () => {
  assert.equal(await tab('read no|'), 'read notes|');
  assert.equal(await tab('read notes|'), 'read notes| + notes-old.txt + notes.txt');
  assert.equal(await tab('read sr| please'), 'read src/| please');
  assert.equal(await tab('!cat src/ma|'), '!cat src/main.ts |');
  assert.equal(await tab('!sr|'), '!src/|');
  assert.equal(await tab('~/ma|'), '~/main.ts |');
  assert.equal(await tab(`${folder}/.h|`), `${folder}/.hidden |`);
  assert.equal(await tab('no/such/folder/x|'), 'no/such/folder/x|');
  assert.equal(await tab('|'), '|');
});
