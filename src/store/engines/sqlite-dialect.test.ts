import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import { CompiledQuery } from 'kysely';
import { SqliteConnection } from './sqlite-dialect.ts';

test('a statement that is used again and again stays prepared, however many others come by', async () => {
  const prepared: string[] = [];
  class Counting extends DatabaseSync {
    override prepare(sql: string): StatementSync {
      prepared.push(sql);
      return super.prepare(sql);
    }
  }
  using db = new Counting(':memory:');
  const connection = new SqliteConnection(db, { transactionsOnly: false });
  const hot = 'select 1 as hot';
  for (let i = 0; i < 600; i += 1) for (const text of [hot, `select ${i} as other`]) await connection.executeQuery(CompiledQuery.raw(text));
  assert.equal(prepared.filter((text) => text === hot).length, 1);
  await connection.executeQuery(CompiledQuery.raw('select 0 as other'));
  assert.equal(prepared.filter((text) => text === 'select 0 as other').length, 2);
});
