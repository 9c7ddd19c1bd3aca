import { sql } from 'kysely';
import type { Reading, Store, Writing } from '../store.ts';
import { inSight } from './past-sessions.ts';
import type { Sight } from './past-sessions.ts';

/** Scripts written without spaces: every two neighbouring characters become a token, so that two characters can be found. */
const unspaced = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const words = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*/gu;
/** Accents of European scripts, and what turns a character into an emoji. Marks of other scripts are letters. */
const ornaments = /[\u0300-\u036f\u20d0-\u20f0\ufe00-\ufe0f]/g;

const maxIndexedCharacters = 20_000;
const maxQueryCharacters = 2_048;
/** PostgreSQL refuses a lexeme of 2 KB, and with it the message. */
const maxTokenCharacters = 64;

interface Run {
  readonly text: string;
  readonly unspaced: boolean;
}

/** What is alike for somebody who searches becomes the same. */
const fold = (text: string): string => text.normalize('NFKD').replaceAll(ornaments, '').normalize('NFKC').toLowerCase();

/** Words, and within a word the stretches of one kind of script. */
const runsOf = (text: string): Run[] => {
  const runs: Run[] = [];
  for (const [word] of fold(text).matchAll(words)) {
    let current = '';
    let kind: boolean | undefined;
    for (const character of word) {
      const is = unspaced.test(character);
      if (kind !== undefined && is !== kind) {
        runs.push({ text: current, unspaced: kind });
        current = '';
      }
      kind = is;
      current += character;
    }
    if (kind !== undefined) runs.push({ text: current, unspaced: kind });
  }
  return runs;
};

/** A stretch of unspaced script gives its pairs, and its last character alone, so that one character can be found as a prefix. */
const pairsOf = (text: string): string[] => {
  const characters = [...text];
  return characters.map((character, i) => character + (characters[i + 1] ?? ''));
};

/** SQLite's tokenizer would cut mixed tokens again, so each is written in letters it leaves alone. */
const spell = (token: string): string => `t${Buffer.from(token).toString('hex')}`;

const cut = (token: string): string => (token.length > maxTokenCharacters ? Array.from(token).slice(0, maxTokenCharacters).join('') : token);

export const searchTokens = (text: string): string[] => {
  const tokens = new Set<string>();
  for (const run of runsOf(text.slice(0, maxIndexedCharacters))) {
    if (run.unspaced) for (const pair of pairsOf(run.text)) tokens.add(pair);
    else tokens.add(cut(run.text));
  }
  return [...tokens];
};

interface Term {
  readonly token: string;
  readonly prefix: boolean;
}

/** The last plain word may be unfinished; a single unspaced character is the start of a pair. */
const queryTerms = (text: string): Term[] => {
  const runs = runsOf(text.slice(0, maxQueryCharacters));
  return runs.flatMap((run, i): Term[] => {
    if (!run.unspaced) return [{ token: cut(run.text), prefix: i === runs.length - 1 }];
    const pairs = pairsOf(run.text);
    if (pairs.length === 1) return [{ token: run.text, prefix: true }];
    return pairs.slice(0, -1).map((pair) => ({ token: pair, prefix: false }));
  });
};

/** Makes a new message findable. On SQLite that is done later, many at a time (see `indexNewMessages`). */
export const indexMessage = async (tx: Writing, id: number, content: string): Promise<void> => {
  if (tx.engine === 'postgres') await insertTokens(tx, id, searchTokens(content));
};

const insertTokens = async (tx: Writing, id: number, tokens: readonly string[]): Promise<void> => {
  if (tokens.length === 0) return;
  if (tx.engine === 'sqlite') await tx.q.insertInto('message_search').values({ rowid: id, tokens: tokens.map(spell).join(' ') }).execute();
  else await sql`insert into message_search (rowid, tokens) values (${id}, array_to_tsvector(${tokens}::text[]))`.execute(tx.q);
};

const positionKey = 'search_position';
/** Small enough that nobody waits noticeably for a batch to end. */
const indexBatch = 200;

/**
 * Brings SQLite's index up to what was said last. Its writers come one after the other, so that a position is enough to know what is
 * new; and writing messages to the index one by one would cost as much as everything else that is stored with them.
 */
export const indexNewMessages = async (store: Store): Promise<void> => {
  if (store.engine === 'sqlite') while (await store.write(indexNextBatch));
};

const indexNextBatch = async (tx: Writing): Promise<boolean> => {
  const position = await tx.q.selectFrom('meta').select('value').where('key', '=', positionKey).executeTakeFirst();
  const rows = await tx.q.selectFrom('messages').select(['id', 'role', 'content', 'active', 'compression_id']).where('id', '>', Number(position?.value ?? 0)).orderBy('id').limit(indexBatch).execute();
  for (const row of rows) if ((row.active === 1 || row.compression_id !== null) && row.role !== 'tool') await insertTokens(tx, row.id, searchTokens(row.content));
  const last = rows.at(-1);
  if (last === undefined) return false;
  const value = String(last.id);
  await tx.q.insertInto('meta').values({ key: positionKey, value }).onConflict((conflict) => conflict.column('key').doUpdateSet({ value })).execute();
  return rows.length === indexBatch;
};

/** Of SQLite's index, at a time: some tens of milliseconds. */
const mergedPages = 100;

/** A step towards an index in one piece, which holds nothing of what was taken out of it. False when it is there. */
export const mergeIndex = async (tx: Writing): Promise<boolean> => {
  const changes = async (): Promise<number> => Number((await sql<{ count: number }>`select total_changes() as count`.execute(tx.q)).rows[0]?.count);
  const before = await changes();
  // A negative number means all of the index, and goes on with what was begun. The statement itself counts as a change.
  await sql`insert into message_search (message_search, rank) values ('merge', ${-mergedPages})`.execute(tx.q);
  return (await changes()) - before > 1;
};

export const unindexMessages = async (tx: Writing, ids: readonly number[]): Promise<void> => {
  for (let i = 0; i < ids.length; i += 200) await tx.q.deleteFrom('message_search').where('rowid', 'in', ids.slice(i, i + 200)).execute();
};

/** Finds a message by its new words from now on, if it could be found before. */
export const reindexMessage = async (tx: Writing, id: number, content: string): Promise<void> => {
  const known = await tx.q.selectFrom('message_search').select('rowid').where('rowid', '=', id).executeTakeFirst();
  if (known === undefined) return;
  await unindexMessages(tx, [id]);
  await insertTokens(tx, id, searchTokens(content));
};

export interface SearchHit {
  readonly messageId: number;
  readonly sessionId: string;
  readonly title: string | null;
  readonly role: string;
  readonly createdAtMs: number;
  readonly snippet: string;
}

const match = (db: Reading, terms: readonly Term[]): ReturnType<typeof sql<boolean>> =>
  db.engine === 'sqlite'
    ? sql<boolean>`message_search match ${terms.map((term) => `${spell(term.token)}${term.prefix ? '*' : ''}`).join(' ')}`
    : sql<boolean>`message_search.tokens @@ ${terms.map((term) => `'${term.token.replaceAll("'", "''")}'${term.prefix ? ':*' : ''}`).join(' & ')}::tsquery`;

export interface SearchQuery {
  readonly text: string;
  readonly limit: number;
  readonly sessionId?: string;
  /** Only in conversations of this person with this agent. */
  readonly owner?: { readonly agent: string; readonly account: string; readonly userId: string };
  /** Only in conversations that may be looked at from where the search is made. */
  readonly sight?: Sight;
  readonly role?: string;
  readonly oldestFirst?: boolean;
}

/** Messages with all the words, newest first unless said otherwise. */
export const searchMessages = async (store: Store, query: SearchQuery): Promise<SearchHit[]> => {
  const terms = queryTerms(query.text);
  if (terms.length === 0) return [];
  await indexNewMessages(store);
  return store.read((db) => findMessages(db, terms, query));
};

/** Hex spells one character as two or more letters, so a prefix of a token is a prefix of its spelling. */
const findMessages = async (db: Reading, terms: readonly Term[], query: SearchQuery): Promise<SearchHit[]> => {
  let select = db.q
    .selectFrom('message_search')
    .innerJoin('messages', 'messages.id', 'message_search.rowid')
    .innerJoin('sessions', 'sessions.id', 'messages.session_id')
    .select(['messages.id', 'messages.session_id', 'messages.role', 'messages.created_at', 'sessions.title', sql<string>`substr(messages.content, 1, ${maxIndexedCharacters})`.as('content')])
    .where(match(db, terms))
    .where((eb) => eb.or([eb('messages.active', '=', 1), eb('messages.compression_id', 'is not', null)]));
  if (query.sessionId !== undefined) select = select.where('messages.session_id', '=', query.sessionId);
  if (query.owner !== undefined) select = select.where('sessions.agent', '=', query.owner.agent).where('sessions.account', '=', query.owner.account).where('sessions.user_id', '=', query.owner.userId);
  const { sight, role } = query;
  if (sight !== undefined) select = select.where(inSight(sight));
  if (role !== undefined) select = select.where('messages.role', '=', role);
  const rows = await select.orderBy('message_search.rowid', query.oldestFirst === true ? 'asc' : 'desc').limit(query.limit).execute();
  return rows.map((row) => ({
    messageId: row.id,
    sessionId: row.session_id,
    title: row.title,
    role: row.role,
    createdAtMs: row.created_at,
    snippet: snippetOf(row.content, query.text),
  }));
};

/** The folded text, and for each of its UTF-16 units where it came from. */
const foldedWithOffsets = (text: string): { folded: string; offsets: readonly number[] } => {
  let folded = '';
  let at = 0;
  const offsets: number[] = [];
  for (const character of text) {
    const piece = character < '\u0080' ? character.toLowerCase() : fold(character);
    for (let i = 0; i < piece.length; i += 1) offsets.push(at);
    folded += piece;
    at += character.length;
  }
  offsets.push(at);
  return { folded, offsets };
};

/** About 160 characters around the first place where a word of the query stands, marked with >>> and <<<. */
export const snippetOf = (content: string, queryText: string): string => {
  const { folded, offsets } = foldedWithOffsets(content.slice(0, maxIndexedCharacters));
  const found = runsOf(queryText.slice(0, maxQueryCharacters)).map((run) => ({ at: folded.indexOf(run.text), length: run.text.length })).filter((hit) => hit.at >= 0).toSorted((a, b) => a.at - b.at)[0];
  const at = offsets[found?.at ?? 0] ?? 0;
  const end = found === undefined ? at : (offsets[found.at + found.length] ?? at);
  const from = Math.max(0, at - 60);
  const to = Math.min(content.length, end + 100);
  const middle = found === undefined ? content.slice(at, to) : `${content.slice(from, at)}>>>${content.slice(at, end)}<<<${content.slice(end, to)}`;
  return `${from > 0 ? '…' : ''}${middle}${to < content.length ? '…' : ''}`.replaceAll(/\s+/g, ' ').toWellFormed();
};
