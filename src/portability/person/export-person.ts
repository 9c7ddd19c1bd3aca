import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { deliveriesTo, pageOfArrivals, pageOfJournal, readPersonFacts } from '../../store/person/read-person.ts';
import type { Person, PersonData } from '../../store/person/find-person.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { exportToFolder, writePieces } from '../export-sessions.ts';
import type { PersonFiles } from './person-files.ts';

const pageSize = 500;

async function* sessionsOf(store: Store, ids: readonly string[]): AsyncGenerator<Session> {
  for (const id of ids) {
    const session = await store.read((db) => findSession(db, id));
    if (session !== undefined) yield session;
  }
}

async function* arrivalsOf(store: Store, ids: readonly number[]): AsyncGenerator<string> {
  for (let at = 0; at < ids.length; at += pageSize) for (const row of await store.read((db) => pageOfArrivals(db, ids.slice(at, at + pageSize)))) yield `${JSON.stringify(row)}\n`;
}

async function* journalOf(store: Store, person: Person, chatIds: readonly string[]): AsyncGenerator<string> {
  for (const chatId of chatIds) {
    for (let after = 0, more = true; more; ) {
      const page = await store.read((db) => pageOfJournal(db, { account: person.account, chatId }, { after, limit: pageSize }));
      for (const row of page) yield `${JSON.stringify({ chatId, at: new Date(row.created_at).toISOString(), entry: JSON.parse(row.entry) as unknown })}\n`;
      after = page.at(-1)?.seq ?? after;
      more = page.length === pageSize;
    }
  }
}

async function* deliveriesOf(store: Store, person: Person, data: PersonData): AsyncGenerator<string> {
  for (const chatId of data.chatIds) for (const row of await store.read((db) => deliveriesTo(db, { account: person.account, chatId }))) yield `${JSON.stringify(row)}\n`;
}

async function* sharedLines(data: PersonData): AsyncGenerator<string> {
  for (const row of data.shared) yield `${JSON.stringify({ sessionId: row.sessionId, at: new Date(row.createdAtMs).toISOString(), text: row.content, attachments: row.attachments })}\n`;
}

/** Writes everything that is kept of somebody into a folder: readable conversations, the same as data, facts, files. */
export const exportPerson = async (store: Store, person: Person, what: { readonly data: PersonData; readonly files: PersonFiles; readonly home: string; readonly folder: string; readonly nowMs: number }): Promise<void> => {
  const { data, files, home, folder } = what;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await exportToFolder(store, sessionsOf(store, data.sessionIds), { folder: join(folder, 'conversations'), formats: ['markdown', 'jsonl'] });
  const facts = await store.read((db) => readPersonFacts(db, person, data));
  await writeFile(join(folder, 'person.json'), `${JSON.stringify({ person, exportedAt: new Date(what.nowMs).toISOString(), ...facts }, null, 2)}\n`, { mode: 0o600 });
  await writePieces(join(folder, 'received.jsonl'), arrivalsOf(store, data.inboxIds));
  await writePieces(join(folder, 'shown.jsonl'), journalOf(store, person, data.chatIds));
  await writePieces(join(folder, 'delivered.jsonl'), deliveriesOf(store, person, data));
  await writePieces(join(folder, 'said-in-shared-conversations.jsonl'), sharedLines(data));
  for (const path of [...files.media, ...files.outgoing, ...files.memories]) {
    const to = join(folder, 'files', relative(home, path).replaceAll('..', 'outside'));
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await copyFile(path, to).catch((error: NodeJS.ErrnoException) => {
      // A gateway beside us has tidied it away since it was found.
      if (error.code !== 'ENOENT') throw error;
    });
  }
};
