import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { nameFile } from '../lib/name-file.ts';
import { exportSession } from '../sessions/export-session.ts';
import type { ExportFormat } from '../sessions/export-session.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';

const endings: Readonly<Record<ExportFormat, string>> = { markdown: 'md', jsonl: 'jsonl', json: 'json' };

const safeName = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100) || '_';

/** Writes text as it comes, for its owner alone. */
export const writePieces = async (path: string, pieces: AsyncIterable<string>): Promise<void> => {
  try {
    await pipeline(Readable.from(pieces), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    throw nameFile(error, path);
  }
};

/** Facts about a conversation as they stand in exports. */
const factsOf = (session: Session): object => ({
  id: session.id,
  title: session.title,
  agent: session.agent,
  account: session.account,
  chatType: session.chatType,
  userId: session.userId,
  createdAt: new Date(session.createdAtMs).toISOString(),
  activeAt: new Date(session.activeAtMs).toISOString(),
  endedAt: session.endedAtMs === null ? null : new Date(session.endedAtMs).toISOString(),
  model: session.model,
  messages: session.messageCount,
});

async function* everySession(store: Store, sessions: AsyncIterable<Session>, format: ExportFormat): AsyncGenerator<string> {
  let first = true;
  for await (const session of sessions) {
    if (format === 'jsonl') yield `${JSON.stringify({ session: factsOf(session) })}\n`;
    if (format === 'json') yield first ? '[\n' : ',\n';
    yield* exportSession(store, session, format);
    first = false;
  }
  if (format === 'json') yield first ? '[]\n' : ']\n';
}

/** All of them one after the other, as text. In JSONL each begins with a line `{"session": …}`. */
export const exportAsText = (store: Store, sessions: AsyncIterable<Session>, format: ExportFormat): AsyncIterable<string> => everySession(store, sessions, format);

/** One file for each, and `sessions.jsonl` with what there is. Answers how many. */
export const exportToFolder = async (store: Store, sessions: AsyncIterable<Session>, to: { readonly folder: string; readonly formats: readonly ExportFormat[] }): Promise<number> => {
  await mkdir(to.folder, { recursive: true, mode: 0o700 });
  let count = 0;
  async function* index(): AsyncGenerator<string> {
    for await (const session of sessions) {
      for (const format of to.formats) await writePieces(join(to.folder, `${safeName(session.id)}.${endings[format]}`), exportSession(store, session, format));
      count += 1;
      yield `${JSON.stringify(factsOf(session))}\n`;
    }
  }
  await writePieces(join(to.folder, 'sessions.jsonl'), index());
  return count;
};
