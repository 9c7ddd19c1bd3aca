import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { program } from '../src/cli/program.ts';
import { writeOpenclawHome } from '../src/portability/openclaw/openclaw-home.test-support.ts';
import { writeOriginalHome } from '../src/portability/original/original-home.test-support.ts';
import { listSessions } from '../src/store/sessions/sessions.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-import-whole-'));
});
afterEach(() => rm(folder, { recursive: true }));

const importInto = async (world: World, program_: 'hermes' | 'openclaw'): Promise<void> => {
  const nothing = (): void => undefined;
  await program({ env: world.env, version: 'test', write: nothing, writeError: nothing }).parseAsync(['node', 'hermes', 'import', program_, folder]);
};

const homes = {
  hermes: { write: () => writeOriginalHome(folder), id: '20260501_080000_aaaaaaaa' },
  openclaw: { write: () => writeOpenclawHome(folder, 'databases'), id: '20260325_030000_cd7fe3ee' },
} as const;

for (const name of ['hermes', 'openclaw'] as const)
  test(`a conversation that was imported from ${name} goes on in its chat, and the model is told what was said before`, async () => {
    using _home = await homes[name].write();
    await using world = await newWorld();
    await importInto(world, name);
    await using inside = await startInside(world);
    await world.say('and now?');
    await until(() => world.shown().length === 1, 'an answer');
    assert.deepEqual(world.shown(), ['re: and now?']);
    const messages = world.model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system') ?? [];
    assert.deepEqual(messages.map(({ role }) => role), ['user', 'assistant', 'tool', 'assistant', 'user']);
    assert.deepEqual([messages[0]?.['content'], messages[2]?.['content'], messages[3]?.['content']], ['what time is it?', 'noon', 'It is noon.']);
    const session = (await inside.store.read((db) => listSessions(db, { limit: 20 }))).find(({ id }) => id === homes[name].id);
    assert.ok((session?.messageCount ?? 0) >= 6);
  });
