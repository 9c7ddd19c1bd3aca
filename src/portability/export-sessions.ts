import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
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

/** Where a path leads. A device or a pipe is written to, since it cannot be replaced. */
const destinationOf = async (path: string): Promise<{ readonly target: string; readonly isFile: boolean }> => {
  try {
    const target = await realpath(path);
    return { target, isFile: (await stat(target)).isFile() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { target: path, isFile: true };
    throw error;
  }
};

/** Writes text as it comes, for its owner alone. What was there before is replaced when all of it is written; a link stays a link. */
export const writePieces = async (path: string, pieces: AsyncIterable<string>): Promise<void> => {
  const text = Readable.from(pieces);
  try {
    const { target, isFile } = await destinationOf(path);
    if (!isFile) return await pipeline(text, createWriteStream(target));
    const partial = `${target}.${randomBytes(4).toString('hex')}.partial`;
    try {
      await pipeline(text, createWriteStream(partial, { mode: 0o600, flags: 'wx' }));
      await rename(partial, target);
    } finally {
      await rm(partial, { force: true });
    }
  } catch (error) {
    throw nameFile(error, path);
  }
};

const indexName = 'sessions';

/** File names for ids, no two the same where capital and small letters are one either. */
const newNames = (): ((id: string) => string) => {
  const given = new Set([indexName]);
  return (id) => {
    let name = safeName(id);
    for (let i = 2; given.has(name.toLowerCase()); i += 1) name = `${safeName(id)}-${i}`;
    given.add(name.toLowerCase());
    return name;
  };
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
  const nameOf = newNames();
  async function* index(): AsyncGenerator<string> {
    for await (const session of sessions) {
      const name = nameOf(session.id);
      for (const format of to.formats) await writePieces(join(to.folder, `${name}.${endings[format]}`), exportSession(store, session, format));
      count += 1;
      yield `${JSON.stringify(factsOf(session))}\n`;
    }
  }
  await writePieces(join(to.folder, `${indexName}.jsonl`), index());
  return count;
};
