import { isApproval } from '../agent/approvals/approval-question.ts';
import { enqueueSettled } from '../delivery/question-message.ts';
import { answerQuestion, openQuestions, questionCode } from '../store/agents/questions.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import type { Writing } from '../store/store.ts';
import type { CommandCall } from './contract.ts';

/** What waits for a decision in a chat, for somebody who may decide about it. */
export interface OpenApprovals {
  /** In this conversation. */
  readonly here: readonly StoredQuestion[];
  /** In the whole chat. */
  readonly all: readonly StoredQuestion[];
}

/** An admin decides about everything, anybody else about what they have asked for themselves; in a direct chat there is nobody else. */
const mayDecide = (call: CommandCall, { askerId }: StoredQuestion): boolean => {
  const { sender, chat } = call.event;
  return call.access.isOwner || call.access.role === 'admin' || (askerId === null ? chat.type === 'dm' : askerId === sender.id || askerId === sender.altId);
};

export const openApprovals = async (tx: Writing, call: CommandCall): Promise<OpenApprovals> => {
  const open = await openQuestions(tx, { account: call.event.account, chatId: call.event.chat.id });
  const all = open.filter((question) => isApproval(question.question) && mayDecide(call, question));
  return { here: all.filter((question) => question.sessionId === call.sessionId), all };
};

export const codeOf = (question: StoredQuestion): string => `#${questionCode(question.id)}`;

/** The first line of what would be done. */
export const headline = (question: StoredQuestion): string => {
  const lines = question.question.text.split('\n');
  const start = lines.findIndex((line) => /^`{3,}$/.test(line));
  const shown = lines.slice(start + 1).find((line) => line !== '' && !line.startsWith('# in ')) ?? '';
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
};

/** Which of the open ones are meant: all, the one with this code, or the oldest of the conversation. A text tells why none is. */
export const chosenApprovals = (open: OpenApprovals, wish: { readonly all: boolean; readonly code: string | undefined }): readonly StoredQuestion[] | string => {
  if (wish.code !== undefined) {
    const named = open.all.find((question) => questionCode(question.id) === wish.code);
    return named === undefined ? `Nothing that you may decide about is open as #${wish.code}.` : [named];
  }
  const [oldest, ...others] = open.here;
  if (oldest !== undefined) return wish.all ? [oldest, ...others] : [oldest];
  if (open.all.length === 0) return 'Nothing waits for an approval.';
  return `Nothing waits for an approval in this conversation. Elsewhere in this chat:\n${open.all.map((question) => `- \`${codeOf(question)}\` \`${headline(question).replaceAll('`', "'")}\``).join('\n')}`;
};

/** Answers a question and says so where it was asked; false when somebody was faster. */
export const decide = async (tx: Writing, call: CommandCall, given: { readonly question: StoredQuestion; readonly value: string; readonly outcome: string }): Promise<boolean> => {
  const { id: by, name } = call.event.sender;
  const counted = await answerQuestion(tx, given.question, { value: given.value, by, ...(name !== undefined && { byName: name }) });
  if (counted) await enqueueSettled(tx, given.question, `➜ ${given.outcome}${name === undefined ? '' : ` (${name})`}`);
  return counted;
};
