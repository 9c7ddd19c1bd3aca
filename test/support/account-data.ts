import { DatabaseSync } from 'node:sqlite';
import type { AccountData } from '../../src/platforms/contract.ts';

/** An account's data in a database of its own, which may be in memory. */
export const openAccountData = (path: string): AccountData & Disposable => {
  const db = new DatabaseSync(path);
  db.exec(`create table if not exists v (key text primary key, value text not null);
    create table if not exists j (seq integer primary key autoincrement, stream text not null, key text not null, entry text not null, at integer not null, unique (stream, key))`);
  const listeners = new Set<() => void>();
  const rows = (sql: string, values: Record<string, string | number | null>) =>
    db.prepare(sql).all(values).map((row) => ({ seq: Number(row['seq']), stream: String(row['stream']), entry: String(row['entry']), atMs: Number(row['at']) }));
  return {
    get: async (key) => db.prepare('select value from v where key = ?').get(key)?.['value'] as string | undefined,
    set: async (key, value) => void db.prepare('insert into v values (?, ?) on conflict do update set value = excluded.value').run(key, value),
    remove: async (key) => db.prepare('delete from v where key = ?').run(key).changes > 0,
    list: async (prefix) =>
      db
        .prepare('select key, value from v where substr(key, 1, ?) = ? order by key')
        .all(prefix.length, prefix)
        .map((row) => ({ key: String(row['key']), value: String(row['value']) })),
    async change({ key, from, to, set, remove }) {
      db.exec('begin immediate');
      const guard =
        from === undefined ? db.prepare('insert into v values (?, ?) on conflict do nothing').run(key, to) : db.prepare('update v set value = ? where key = ? and value = ?').run(to, key, from);
      if (guard.changes > 0) {
        for (const [name, value] of set) db.prepare('insert into v values (?, ?) on conflict do update set value = excluded.value').run(name, value);
        for (const name of remove) db.prepare('delete from v where key = ?').run(name);
      }
      db.exec('commit');
      return guard.changes > 0;
    },
    async append(stream, key, entry) {
      const { changes } = db.prepare('insert into j (stream, key, entry, at) values (?, ?, ?, ?) on conflict do nothing').run(stream, key, entry, Date.now());
      if (changes > 0) for (const listener of listeners) listener();
      return Number(db.prepare('select seq from j where stream = ? and key = ?').get(stream, key)?.['seq']);
    },
    read: async (query) => rows('select * from j where seq > $after and ($stream is null or stream = $stream) order by seq limit $limit', { after: query.after, stream: query.stream ?? null, limit: query.limit }),
    tail: async (query) =>
      rows('select * from j where ($stream is null or stream = $stream) and ($before is null or seq < $before) order by seq desc limit $limit', {
        stream: query.stream ?? null,
        before: query.before ?? null,
        limit: query.limit,
      }).toReversed(),
    watch(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]: () => db.close(),
  };
};
