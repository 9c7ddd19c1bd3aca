import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import type { Question } from '../../core/question.ts';
import { prepared } from '../prepared.ts';
import type { QuestionRow } from '../schema/agent-rows.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** What an answer is for. `call`: a running turn waits for it. `command`: the command in that inbox row is carried out once it is confirmed. */
export type QuestionPurpose = { readonly type: 'call'; readonly callId: string } | { readonly type: 'command'; readonly inboxId: number };

export interface NewQuestion {
  /** Derived from the cause: the same cause asks once. */
  readonly key: string;
  readonly sessionId: string;
  readonly turnId?: number;
  readonly target: Target;
  readonly askerId?: string;
  readonly question: Question;
  readonly purpose: QuestionPurpose;
}

/** `used`: whoever asked has taken the answer, and may have acted on it. */
export type QuestionState = QuestionRow['state'];

export interface StoredQuestion extends Omit<NewQuestion, 'turnId' | 'askerId'> {
  readonly id: number;
  readonly turnId: number | null;
  readonly askerId: string | null;
  readonly state: QuestionState;
  readonly answer: { readonly value: string; readonly by: string; readonly byName: string | null } | undefined;
  /** Not above zero when its time is up. */
  readonly leftMs: number;
}

/** How people name a question: short, and the same for as long as it exists. */
export const questionCode = (id: number): string => id.toString(36);

export const questionId = (code: string): number | undefined => {
  const id = /^[0-9a-z]{1,10}$/i.test(code) ? Number.parseInt(code, 36) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
};

const fields = (db: Reading) => [...columns, sql<number>`expires_at - ${db.now}`.as('left_ms')] as const;
const columns = ['id', 'key', 'session_id', 'turn_id', 'target', 'asker', 'question', 'purpose', 'state', 'answer', 'answered_by', 'answered_name'] as const;

type Row = Pick<QuestionRow, Exclude<(typeof columns)[number], 'id'>> & { id: number; left_ms: number };

const toQuestion = (row: Row): StoredQuestion => ({
  id: row.id,
  key: row.key,
  sessionId: row.session_id,
  turnId: row.turn_id,
  target: JSON.parse(row.target) as Target,
  askerId: row.asker,
  question: JSON.parse(row.question) as Question,
  purpose: JSON.parse(row.purpose) as QuestionPurpose,
  state: row.state,
  answer: row.answer === null || row.answered_by === null ? undefined : { value: row.answer, by: row.answered_by, byName: row.answered_name },
  leftMs: Number(row.left_ms),
});

/** Keeps the question, or finds the one that this cause has asked before; `isNew` tells which. */
export const keepQuestion = async (tx: Writing, asked: NewQuestion): Promise<{ readonly question: StoredQuestion; readonly isNew: boolean }> => {
  const inserted = await tx.q
    .insertInto('questions')
    .values({
      key: asked.key,
      account: asked.target.account,
      chat_id: asked.target.chatId,
      session_id: asked.sessionId,
      turn_id: asked.turnId ?? null,
      target: JSON.stringify(asked.target),
      asker: asked.askerId ?? null,
      question: JSON.stringify(asked.question),
      purpose: JSON.stringify(asked.purpose),
      state: 'open',
      answer: null,
      answered_by: null,
      answered_name: null,
      answer_inbox_id: null,
      created_at: tx.now,
      expires_at: inMs(tx, asked.question.timeoutMs),
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('id')
    .executeTakeFirst();
  const question = await findQuestionByKey(tx, asked.key);
  if (question === undefined) throw new StoreError('failed', `the question ${asked.key} was not kept`);
  return { question, isNew: inserted !== undefined };
};

export const findQuestionByKey = async (db: Reading, key: string): Promise<StoredQuestion | undefined> => {
  const row = await db.q.selectFrom('questions').select(fields(db)).where('key', '=', key).executeTakeFirst();
  return row === undefined ? undefined : toQuestion(row);
};

/** A question asked in that chat, settled or not. */
export const findQuestion = async (db: Reading, at: { account: string; chatId: string; id: number }): Promise<StoredQuestion | undefined> => {
  const row = await db.q.selectFrom('questions').select(fields(db)).where('id', '=', at.id).where('account', '=', at.account).where('chat_id', '=', at.chatId).executeTakeFirst();
  return row === undefined ? undefined : toQuestion(row);
};

/** What waits for an answer in a chat, oldest first. */
export const openQuestions = async (db: Reading, at: { account: string; chatId: string }): Promise<StoredQuestion[]> => (await selectOpen(db, { account: at.account, chatId: at.chatId })).rows.map(toQuestion);

const selectOpen = prepared((db, at: { account: string; chatId: string }) =>
  db.q
    .selectFrom('questions')
    .select(fields(db))
    .where('state', '=', 'open')
    .where('account', '=', at.account)
    .where('chat_id', '=', at.chatId)
    .where('expires_at', '>', db.now)
    .orderBy('id'),
);

/** Of calls of a turn that have not had their answer and have begun nothing: making such a call again repeats nothing. */
export const unansweredCalls = async (db: Reading, turnId: number): Promise<ReadonlySet<string>> => {
  const rows = await db.q.selectFrom('questions').select(fields(db)).where('turn_id', '=', turnId).execute();
  const calls = rows.map(toQuestion).flatMap(({ purpose, state, question }) => (purpose.type === 'call' ? [{ id: purpose.callId, used: state === 'used' || question.begun === true }] : []));
  const used = new Set(calls.filter((call) => call.used).map((call) => call.id));
  return new Set(calls.map((call) => call.id).filter((id) => !used.has(id)));
};

export interface GivenAnswer {
  readonly value: string;
  readonly by: string;
  readonly byName?: string;
  /** The inbox row that holds the answer; what follows from it is carried out in its name. */
  readonly inboxId?: number;
}

/** False when it was settled before or its time is up: of several answers exactly one counts. */
export const answerQuestion = async (tx: Writing, question: StoredQuestion, given: GivenAnswer): Promise<boolean> => {
  const result = await tx.q
    .updateTable('questions')
    .set({ state: 'answered', answer: given.value, answered_by: given.by, answered_name: given.byName ?? null, answer_inbox_id: given.inboxId ?? null })
    .where('id', '=', question.id)
    .where('state', '=', 'open')
    .where('expires_at', '>', tx.now)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  tx.notify('question', question.key);
  return true;
};

/** Takes the answer for good; false when somebody has taken it already. */
export const useAnswer = (tx: Writing, id: number): Promise<boolean> => move(tx, id, 'answered', 'used');

/** False when it is not open any more. */
export const closeQuestion = (tx: Writing, id: number, as: 'expired' | 'withdrawn'): Promise<boolean> => move(tx, id, 'open', as);

const move = async (tx: Writing, id: number, from: QuestionState, to: QuestionState): Promise<boolean> => {
  const result = await tx.q.updateTable('questions').set({ state: to }).where('id', '=', id).where('state', '=', from).executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

/** The questions of a turn that nobody has answered. */
export const openTurnQuestions = async (db: Reading, turnId: number): Promise<StoredQuestion[]> => {
  const rows = await db.q.selectFrom('questions').select(fields(db)).where('turn_id', '=', turnId).where('state', '=', 'open').orderBy('id').execute();
  return rows.map(toQuestion);
};

/** Questions of commands whose time is up. Those of turns are closed by the turns that wait for them. */
export const overdueQuestions = async (db: Reading, limit: number): Promise<StoredQuestion[]> => {
  const rows = await db.q.selectFrom('questions').select(fields(db)).where('state', '=', 'open').where('turn_id', 'is', null).where('expires_at', '<=', db.now).orderBy('id').limit(limit).execute();
  return rows.map(toQuestion);
};

/** The question that an inbox row has answered, when it still waits to be acted on. */
export const answeredBy = async (db: Reading, inboxId: number): Promise<StoredQuestion | undefined> => {
  const row = await db.q.selectFrom('questions').select(fields(db)).where('answer_inbox_id', '=', inboxId).where('state', '=', 'answered').executeTakeFirst();
  return row === undefined ? undefined : toQuestion(row);
};
