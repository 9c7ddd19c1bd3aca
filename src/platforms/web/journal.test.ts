import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { openWebJournal } from './journal.ts';

test('a chat is named by its first text until it gets a name, which no answer in the same moment takes away', async () => {
  let nowMs = 1;
  const journal = openWebJournal(openAccountData(':memory:'), () => nowMs);
  await journal.touch('c', 'Where is **tea** grown?');
  assert.deepEqual(await journal.chats(10), [{ id: 'c', title: 'Where is tea grown?', lastMs: 1 }]);
  nowMs = 2;
  await Promise.all([journal.touch('c', 'In Assam'), journal.rename('c', 'Tea'), journal.touch('c', 'and elsewhere')]);
  assert.deepEqual(await journal.chats(10), [{ id: 'c', title: 'Tea', lastMs: 2 }]);
  await journal.hide('c');
  await journal.rename('c', 'Coffee');
  await journal.rename('unknown', 'Nobody');
  assert.deepEqual(await journal.chats(10), []);
  await journal.touch('c', 'again');
  assert.deepEqual((await journal.chats(10)).map(({ title }) => title), ['Coffee']);
});
