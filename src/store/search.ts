import { sql } from 'kysely';
import type { Reading, Writing } from './store.ts';

/** Scripts written without spaces: every two neighbouring characters become a token, so that two characters can be found. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const words = /[\p{L}\p{N}\p{M}_]+/gu;

const maxIndexedCharacters = 20_000;
const maxQueryCharacters = 2_048;

interface Run {
  readonly text: string;
  readonly unspaced: boolean;
}

/** Words, and within a word the stretches of one kind of script. */
const runsOf = (text: string): Run[] => {
  const runs: Run[] = [];
  for (const [word] of text.toLowerCase().normalize('NFKC').matchAll(words)) {
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

export const searchTokens = (text: string): string[] => {
  const tokens = new Set<string>();
  for (const run of runsOf(text.slice(0, maxIndexedCharacters))) {
    if (run.unspaced) for (const pair of pairsOf(run.text)) tokens.add(pair);
    else tokens.add(run.text);
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
    if (!run.unspaced) return [{ token: run.text, prefix: i === runs.length - 1 }];
    const characters = [...run.text];
    if (characters.length === 1) return [{ token: run.text, prefix: true }];
    return characters.slice(0, -1).map((character, k) => ({ token: character + characters[k + 1], prefix: false }));
  });
};

export const indexMessage = async (tx: Writing, id: number, content: string): Promise<void> => {
  const tokens = searchTokens(content);
  if (tokens.length === 0) return;
  if (tx.engine === 'sqlite') await sql`insert into message_search (rowid, tokens) values (${id}, ${tokens.map(spell).join(' ')})`.execute(tx.q);
  else await sql`insert into message_search (rowid, tokens) values (${id}, array_to_tsvector(${tokens}::text[]))`.execute(tx.q);
};

export const unindexMessages = async (tx: Writing, ids: readonly number[]): Promise<void> => {
  for (let i = 0; i < ids.length; i += 200) await tx.q.deleteFrom('message_search').where('rowid', 'in', ids.slice(i, i + 200)).execute();
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

/** Hex spells one character as two or more letters, so a prefix of a token is a prefix of its spelling. */
export const searchMessages = async (db: Reading, query: { text: string; limit: number; sessionId?: string }): Promise<SearchHit[]> => {
  const terms = queryTerms(query.text);
  if (terms.length === 0) return [];
  let select = db.q
    .selectFrom('message_search')
    .innerJoin('messages', 'messages.id', 'message_search.rowid')
    .innerJoin('sessions', 'sessions.id', 'messages.session_id')
    .select(['messages.id', 'messages.session_id', 'messages.role', 'messages.content', 'messages.created_at', 'sessions.title'])
    .where(match(db, terms))
    .where('messages.active', '=', 1);
  if (query.sessionId !== undefined) select = select.where('messages.session_id', '=', query.sessionId);
  const rows = await select.orderBy('messages.id', 'desc').limit(query.limit).execute();
  return rows.map((row) => ({
    messageId: row.id,
    sessionId: row.session_id,
    title: row.title,
    role: row.role,
    createdAtMs: row.created_at,
    snippet: snippetOf(row.content, query.text),
  }));
};

/** About 160 characters around the first place where a word of the query stands, marked with >>> and <<<. */
export const snippetOf = (content: string, queryText: string): string => {
  const lower = content.toLowerCase();
  const found = runsOf(queryText).map((run) => ({ at: lower.indexOf(run.text), length: run.text.length })).filter((hit) => hit.at >= 0).toSorted((a, b) => a.at - b.at)[0];
  const at = found?.at ?? 0;
  const end = at + (found?.length ?? 0);
  const from = Math.max(0, at - 60);
  const to = Math.min(content.length, end + 100);
  const middle = found === undefined ? content.slice(at, to) : `${content.slice(from, at)}>>>${content.slice(at, end)}<<<${content.slice(end, to)}`;
  return `${from > 0 ? '…' : ''}${middle}${to < content.length ? '…' : ''}`.replaceAll(/\s+/g, ' ').toWellFormed();
};
