import type { Choice, OutboundMessage } from '../core/message.ts';
import type { Platform } from '../platforms/contract.ts';
import { enqueueDelivery, enqueuedText } from '../store/messages/outbox.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import { questionCode, questionId } from '../store/agents/questions.ts';
import type { Writing } from '../store/store.ts';
import { composeDeliveries, withoutAnchor } from './compose.ts';

/** Names the delivery that shows a question: of several, the one with its buttons. */
export const questionMessageKey = (question: StoredQuestion): string => `question:${question.id}`;

/** What a pressed button says: which question, and which of its options. */
export const buttonData = (id: number, option: number): string => `q:${questionCode(id)}:${option}`;

/** Undefined for a button that belongs to no question. */
export const readButton = (data: string): { readonly id: number; readonly option: number } | undefined => {
  const match = /^q:([0-9a-z]+):(\d{1,2})$/.exec(data);
  const id = match?.[1] === undefined ? undefined : questionId(match[1]);
  return id === undefined ? undefined : { id, option: Number(match?.[2]) };
};

/** Short labels share a row, so that a question does not fill the screen. */
const rowsOf = (choices: readonly Choice[]): Choice[][] => {
  const short = choices.every((choice) => choice.label.length <= 16);
  return short ? Array.from({ length: Math.ceil(choices.length / 2) }, (_, row) => choices.slice(row * 2, row * 2 + 2)) : choices.map((choice) => [choice]);
};

/** Shows a question in its chat, with its options as buttons. */
export const enqueueQuestion = async (tx: Writing, platform: Platform, question: StoredQuestion): Promise<void> => {
  const choices = rowsOf(question.question.options.map((option, i) => ({ label: option.label, data: buttonData(question.id, i) })));
  const key = questionMessageKey(question);
  const deliveries = composeDeliveries(platform, { key, target: question.target, text: question.question.text, ...(choices.length > 0 && { choices }) });
  for (const [i, delivery] of deliveries.entries()) {
    const named = i === deliveries.length - 1 ? { ...delivery, message: { ...delivery.message, key } } : delivery;
    await enqueueDelivery(tx, named, question.turnId === null ? {} : { turnId: question.turnId });
  }
};

/** Takes the buttons off a question and says below it what became of it, where a message can still be changed. */
export const enqueueSettled = async (tx: Writing, question: StoredQuestion, outcome: string): Promise<void> => {
  const shown = question.question.options.length === 0 ? undefined : await enqueuedText(tx, questionMessageKey(question));
  // Not every question stands in a chat.
  if (shown === undefined) return;
  const message: OutboundMessage = { key: `${questionMessageKey(question)}:settled`, target: withoutAnchor(question.target), text: `${shown}\n\n${outcome}` };
  await enqueueDelivery(tx, { message, changes: questionMessageKey(question) }, question.turnId === null ? {} : { turnId: question.turnId });
};

/** The same message where there are no buttons: its options are numbered, and the number answers. */
export const numbered = (message: OutboundMessage): OutboundMessage => {
  const { choices, ...rest } = message;
  const options = choices?.flat() ?? [];
  if (options.length === 0) return message;
  const lines = options.map((choice, i) => `${i + 1}. ${choice.label}`);
  const asked = readButton(options[0]?.data ?? '');
  const how = asked === undefined ? 'Answer with a number.' : `Answer with a number, or with \`#${questionCode(asked.id)} 1\` when several questions are open.`;
  return { ...rest, text: `${message.text}\n\n${lines.join('\n')}\n\n${how}` };
};
