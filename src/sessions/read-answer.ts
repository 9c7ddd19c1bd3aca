import type { InboundEvent } from '../core/message.ts';
import type { QuestionOption } from '../core/question.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import { questionCode } from '../store/agents/questions.ts';

/** What an event says to the questions that are open. */
export type ReadAnswer =
  | { readonly type: 'answer'; readonly question: StoredQuestion; readonly value: string }
  /** It was meant as an answer and cannot be one; the text tells why. */
  | { readonly type: 'refused'; readonly text: string }
  /** It has nothing to do with a question. */
  | { readonly type: 'other' };

export interface AnswerContext {
  /** Everything that is open in the chat. */
  readonly open: readonly StoredQuestion[];
  /** The conversation that the event belongs to: words without an address answer only what was asked there. */
  readonly sessionId: string;
  mayAnswer(question: StoredQuestion): boolean;
  /** The question whose message the event replies to. */
  readonly repliedTo?: StoredQuestion;
}

const notYours = 'This question is for somebody else.';
const settled = 'This question is settled already.';
const other: ReadAnswer = { type: 'other' };

const plain = (text: string): string => text.trim().toLowerCase().replace(/[.!]+$/, '');

const optionOf = (options: readonly QuestionOption[], text: string): QuestionOption | undefined => {
  const said = plain(text);
  const number = /^\d{1,2}$/.test(said) ? Number(said) : undefined;
  if (number !== undefined) return options[number - 1];
  return options.find((option) => [option.label, option.value, ...(option.words ?? [])].some((word) => plain(word) === said));
};

/** The value that a text stands for, when it is one that the question takes. */
const valueOf = ({ question }: StoredQuestion, text: string): string | undefined => {
  const option = optionOf(question.options, text);
  if (option !== undefined) return option.value;
  const free = question.options.length === 0 || question.freeText === true;
  return free && text.trim() !== '' ? text.trim() : undefined;
};

/** A pressed button. `question` is the one it belongs to, if there is such a question in the chat. */
export const readPress = (question: StoredQuestion | undefined, option: number, mayAnswer: (question: StoredQuestion) => boolean): ReadAnswer => {
  if (question === undefined) return { type: 'refused', text: 'This question is gone.' };
  if (question.state !== 'open' || question.leftMs <= 0) return { type: 'refused', text: settled };
  if (!mayAnswer(question)) return { type: 'refused', text: notYours };
  const value = question.question.options[option]?.value;
  return value === undefined ? { type: 'refused', text: 'This question has no such answer.' } : { type: 'answer', question, value };
};

const toAddressed = (question: StoredQuestion | undefined, text: string, context: AnswerContext): ReadAnswer => {
  if (question === undefined) return { type: 'refused', text: 'There is no open question with that number.' };
  if (!context.mayAnswer(question)) return { type: 'refused', text: notYours };
  const value = valueOf(question, text);
  if (value !== undefined) return { type: 'answer', question, value };
  const options = question.question.options.map((option, i) => `${i + 1} ${option.label}`).join(', ');
  return { type: 'refused', text: `Please answer with one of: ${options}.` };
};

const ambiguous = (questions: readonly StoredQuestion[]): ReadAnswer => {
  const list = questions.map((question) => `\`#${questionCode(question.id)}\` ${question.question.text.split('\n', 1)[0]?.slice(0, 80) ?? ''}`);
  return { type: 'refused', text: `Several questions are open. Answer with the question's number in front, for example \`#${questionCode(questions[0]?.id ?? 0)} 1\`:\n${list.join('\n')}` };
};

/**
 * A message. It answers by address (`#code answer`, or as a reply to the question), or in bare words when they fit exactly one open question
 * of the conversation that its sender may answer.
 */
export const readMessage = (event: Pick<InboundEvent, 'text'>, context: AnswerContext): ReadAnswer => {
  const text = event.text.trim();
  const coded = /^#([0-9a-z]{1,10})(?:\s+([\s\S]+))?$/i.exec(text);
  const named = context.open.find((question) => questionCode(question.id) === coded?.[1]?.toLowerCase());
  if (named !== undefined) return toAddressed(named, coded?.[2] ?? '', context);
  if (context.repliedTo !== undefined) {
    const replied = toAddressed(context.repliedTo, text, context);
    return replied.type === 'answer' ? replied : other;
  }
  const asked = context.open.filter((question) => question.sessionId === context.sessionId && context.mayAnswer(question));
  const fitting = asked.filter((question) => valueOf(question, text) !== undefined);
  const [only, ...more] = fitting;
  if (only === undefined) return other;
  const value = valueOf(only, text);
  return more.length > 0 || value === undefined ? ambiguous(fitting) : { type: 'answer', question: only, value };
};
