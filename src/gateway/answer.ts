import { commandAccess } from '../access/command-access.ts';
import type { CommandAccess } from '../access/command-access.ts';
import { allowingValue, isApproval, onlyAdminsAlways } from '../agent/approvals/approval-question.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { enqueueText } from '../delivery/compose.ts';
import { enqueueSettled, questionMessageKey, readButton } from '../delivery/question-message.ts';
import { readMessage, readPress } from '../sessions/read-answer.ts';
import type { ReadAnswer } from '../sessions/read-answer.ts';
import { closeItem, insertInboxItem } from '../store/messages/inbox.ts';
import type { Decision } from '../store/messages/inbox.ts';
import { sentMessageId } from '../store/messages/outbox.ts';
import { answerQuestion, findQuestion, openQuestions, questionCode } from '../store/agents/questions.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import type { Writing } from '../store/store.ts';
import type { Arrival, Outcome } from './arrival.ts';
import { Duplicate } from './arrival.ts';

/** Where the event was seated; a press needs no seat. */
export interface AnswerPlace {
  readonly lane: string;
  readonly sessionId: string;
  readonly sessionKey: string;
}

const idsOf = ({ sender }: InboundEvent): readonly string[] => [sender.id, ...(sender.altId === undefined ? [] : [sender.altId])];

const accessOf = ({ event, platform, common }: Arrival): CommandAccess => commandAccess({ rules: common, chatType: event.chat.type, userIds: idsOf(event), authenticated: platform.authenticatesSenders });

/** Whether somebody may answer. The owner may always; whoever asked may decide about their own request if they may approve here. */
const mayAnswer = (arrival: Arrival, question: StoredQuestion): boolean => {
  const { event } = arrival;
  const access = accessOf(arrival);
  if (access.isOwner) return true;
  const userIds = idsOf(event);
  const own = question.askerId === null ? event.chat.type === 'dm' : userIds.includes(question.askerId);
  switch (question.question.answerer) {
    case 'asker':
      return own;
    case 'approver':
      return access.role === 'admin' || (own && access.mayRun({ name: 'approve', aliases: [] }));
    default:
      throw question.question.answerer satisfies never;
  }
};

/** What is allowed for good holds for everybody, in every conversation. */
const decidesForOthers = ({ question }: StoredQuestion, value: string): boolean => isApproval(question) && value === allowingValue(question, 'always');

const labelOf = (question: StoredQuestion, value: string): string => question.question.options.find((option) => option.value === value)?.label ?? value;

const keep = async (tx: Writing, event: InboundEvent, at: { decisions: readonly Decision[]; place?: AnswerPlace; verdict: string }): Promise<number> => {
  const decisions = [...at.decisions, { step: 'kind', verdict: at.verdict }];
  const id = await insertInboxItem(tx, { event, class: 'control', decisions, ...(at.place !== undefined && { place: at.place }) });
  if (id === undefined) throw new Duplicate();
  return id;
};

const settle = async (tx: Writing, arrival: Arrival, at: { answer: Extract<ReadAnswer, { type: 'answer' }>; place?: AnswerPlace }): Promise<Outcome> => {
  const { event, verdict } = arrival;
  const { question, value } = at.answer;
  if (decidesForOthers(question, value) && !accessOf(arrival).mayAdminister) return refuse(tx, arrival, { text: `⛔ ${onlyAdminsAlways}`, ...(at.place !== undefined && { place: at.place }) });
  const code = questionCode(question.id);
  const inboxId = await keep(tx, event, { decisions: verdict.decisions, verdict: `answer to question #${code}`, ...(at.place !== undefined && { place: at.place }) });
  const { id: by, name } = event.sender;
  const counted = await answerQuestion(tx, question, { value, by, inboxId, ...(name !== undefined && { byName: name }) });
  if (counted) await enqueueSettled(tx, question, `➜ ${labelOf(question, value)}${name === undefined ? '' : ` (${name})`}`);
  // A confirmed command is carried out in the name of this row; a turn that waits is woken by the store.
  if (counted && question.purpose.type === 'command') return { accepted: 'stored', reason: `answer to question #${code}`, controlId: inboxId, pressed: labelOf(question, value) };
  await closeItem(tx, inboxId, counted ? `answer to question #${code}` : `question #${code} was settled already`);
  return { accepted: 'stored', reason: `answer to question #${code}`, pressed: counted ? labelOf(question, value) : 'This question is settled already.' };
};

const refuse = async (tx: Writing, arrival: Arrival, at: { text: string; place?: AnswerPlace }): Promise<Outcome> => {
  const { event, platform } = arrival;
  const inboxId = await keep(tx, event, { decisions: arrival.verdict.decisions, verdict: 'not an answer that counts', ...(at.place !== undefined && { place: at.place }) });
  await closeItem(tx, inboxId, `no answer: ${at.text.split('\n', 1)[0] ?? ''}`);
  if (event.kind !== 'button') await enqueueText(tx, platform, { key: `answer:${inboxId}`, target: replyTarget(event), text: at.text, inboxId });
  return { accepted: 'stored', reason: 'not an answer that counts', pressed: at.text };
};

/** A press on one of a question's buttons; undefined for any other event. */
export const takePress = async (tx: Writing, arrival: Arrival): Promise<Outcome | undefined> => {
  const { event } = arrival;
  const pressed = event.kind === 'button' && event.button !== undefined ? readButton(event.button.data) : undefined;
  if (pressed === undefined) return undefined;
  const question = await findQuestion(tx, { account: event.account, chatId: event.chat.id, id: pressed.id });
  const read = readPress(question, pressed.option, (asked) => mayAnswer(arrival, asked));
  return read.type === 'answer' ? settle(tx, arrival, { answer: read }) : refuse(tx, arrival, { text: read.type === 'refused' ? read.text : '' });
};

const repliedTo = async (tx: Writing, event: InboundEvent, open: readonly StoredQuestion[]): Promise<StoredQuestion | undefined> => {
  if (event.replyTo === undefined) return undefined;
  for (const question of open) if ((await sentMessageId(tx, questionMessageKey(question))) === event.replyTo.messageId) return question;
  return undefined;
};

/** A message that answers a question of its chat; undefined for one that is conversation. */
export const takeAnswer = async (tx: Writing, arrival: Arrival, place: AnswerPlace): Promise<Outcome | undefined> => {
  const { event } = arrival;
  const open = await openQuestions(tx, { account: event.account, chatId: event.chat.id });
  if (open.length === 0) return undefined;
  const replied = await repliedTo(tx, event, open);
  const read = readMessage(event, { open, sessionId: place.sessionId, mayAnswer: (question) => mayAnswer(arrival, question), ...(replied !== undefined && { repliedTo: replied }) });
  switch (read.type) {
    case 'answer':
      return settle(tx, arrival, { answer: read, place });
    case 'refused':
      return refuse(tx, arrival, { text: read.text, place });
    case 'other':
      return undefined;
    default:
      throw read satisfies never;
  }
};
