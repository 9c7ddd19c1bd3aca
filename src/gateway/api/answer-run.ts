import { allowingValue, denialValue, isApproval } from '../../agent/approvals/approval-question.ts';
import type { Question } from '../../core/question.ts';
import { answerQuestion, openTurnQuestions, questionCode } from '../../store/agents/questions.ts';
import type { StoredQuestion } from '../../store/agents/questions.ts';
import { progressOfCall } from '../../store/api/api-calls.ts';
import { appendRunEvents } from '../../store/api/api-run-events.ts';
import type { Writing } from '../../store/store.ts';
import { apiAccount } from './place.ts';

/** What a client says to a question of a run. */
export interface RunAnswer {
  readonly runId: string;
  readonly callerId: string;
  readonly choice: string;
  /** To everything that is open. */
  readonly all: boolean;
  /** To the question that has this code. */
  readonly code?: string | undefined;
  /** Whether the client may change what everybody is allowed for good. */
  readonly mayAlways: boolean;
}

export type RunAnswered = { readonly type: 'answered'; readonly choice: string; readonly resolved: number } | { readonly type: 'refused'; readonly why: 'not_active' | 'not_pending' | 'invalid_choice' };

const synonyms: ReadonlyMap<string, string> = new Map([
  ...['approve', 'approved', 'allow', 'yes'].map((word) => [word, 'once'] as const),
  ...['denied', 'reject', 'rejected', 'no'].map((word) => [word, 'deny'] as const),
]);

const reaches = ['once', 'session', 'always'] as const;

/** The words with which a question can be answered; none when any words do. */
export const choicesOf = (question: Question, mayAlways: boolean): readonly string[] => {
  if (!isApproval(question)) return question.options.map(({ value }) => value);
  return [...reaches.filter((reach) => (reach !== 'always' || mayAlways) && allowingValue(question, reach) !== undefined), 'deny'];
};

/** What an answer stands for; undefined when the question does not take it. */
const meant = (question: Question, { choice, mayAlways }: RunAnswer): { readonly value: string; readonly choice: string } | undefined => {
  const text = choice.trim();
  if (isApproval(question)) {
    const word = synonyms.get(text.toLowerCase()) ?? text.toLowerCase();
    if (!choicesOf(question, mayAlways).includes(word)) return undefined;
    const reach = reaches.find((each) => each === word);
    return { value: reach === undefined ? denialValue('') : (allowingValue(question, reach) ?? denialValue('')), choice: word };
  }
  const option = question.options.find(({ value, label }) => value === text || label === text);
  const takesWords = question.options.length === 0 || question.freeText === true;
  return option !== undefined || (takesWords && text !== '') ? { value: option?.value ?? text, choice: option?.value ?? text } : undefined;
};

const chosen = (open: readonly StoredQuestion[], { all, code }: RunAnswer): readonly StoredQuestion[] => {
  if (code !== undefined) return open.filter(({ id }) => questionCode(id) === code.toLowerCase());
  return all ? open : open.slice(0, 1);
};

/** Answers what a run has asked; questions of other runs of the same conversation are not touched. */
export const answerRun = async (tx: Writing, answer: RunAnswer): Promise<RunAnswered> => {
  const { runId, callerId } = answer;
  const { state, turnId } = await progressOfCall(tx, { id: runId, account: apiAccount });
  if (state !== 'running' || turnId === null) return { type: 'refused', why: 'not_active' };
  const open = (await openTurnQuestions(tx, turnId)).filter(({ leftMs }) => leftMs > 0);
  const questions = chosen(open, answer);
  if (questions.length === 0) return { type: 'refused', why: 'not_pending' };
  const answers = questions.map((question) => ({ question, said: meant(question.question, answer) }));
  if (answers.some(({ said }) => said === undefined)) return { type: 'refused', why: 'invalid_choice' };
  let resolved = 0;
  for (const { question, said } of answers) {
    if (said === undefined || !(await answerQuestion(tx, question, { value: said.value, by: callerId }))) continue;
    resolved += 1;
    await appendRunEvents(tx, runId, [{ type: 'answered', questionId: question.id, choice: said.choice }]);
  }
  return resolved === 0 ? { type: 'refused', why: 'not_pending' } : { type: 'answered', choice: answers[0]?.said?.choice ?? answer.choice, resolved };
};
