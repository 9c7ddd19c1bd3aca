import { z } from 'zod';
import { defineSection } from '../../config/section.ts';
import type { Answer, Question } from '../../core/question.ts';
import type { Tool, ToolContext } from './contract.ts';
import { defineTool } from './define-tool.ts';

/** How long the agent waits for an answer to a question of its own. */
export const clarifySection = defineSection(
  'clarify',
  z
    .strictObject({
      timeout: z.int().min(0).max(604_800).default(600).describe('Seconds that the agent waits for the answer to a question before it decides by itself; 0 waits for a week'),
    })
    .prefault({}),
  'live',
);

const maxChoices = 4;
const maxQuestions = 5;
const longestMs = 604_800_000;

const oneQuestion = z.object({
  question: z.string().trim().min(1).max(2_000).describe('What you want to know, in one or two sentences.'),
  choices: z.array(z.string().trim().min(1).max(100)).max(maxChoices).optional().describe(`Up to ${maxChoices} answers to choose from, your recommendation first. The person can always answer in their own words; do not add an "other".`),
  multi_select: z.boolean().default(false).describe('Several of the choices may be taken.'),
});

const args = z
  .object({
    question: oneQuestion.shape.question.optional(),
    choices: oneQuestion.shape.choices,
    multi_select: oneQuestion.shape.multi_select,
    questions: z.array(oneQuestion).min(1).max(maxQuestions).optional().describe(`Instead of one question: up to ${maxQuestions}, asked one after the other.`),
  })
  .refine(({ question, questions }) => (question === undefined) !== (questions === undefined), 'Give either question or questions.');

type Asked = z.output<typeof oneQuestion>;

const listed = (choices: readonly string[]): string => choices.map((choice, index) => `\n${index + 1}. ${choice}`).join('');

const shown = (choice: string, index: number): string => (index === 0 ? `${choice} (recommended)` : choice);

/** As the chat shows it. Where several choices may be taken they are numbered, for a button answers only once. */
const asQuestion = ({ question, choices = [], multi_select }: Asked, timeoutMs: number): Question => {
  if (multi_select && choices.length > 0) {
    return { text: `❓ ${question}\n${listed(choices.map(shown))}\n\nAnswer with one or more numbers, or in your own words.`, options: [], freeText: true, answerer: 'asker', timeoutMs };
  }
  return { text: `❓ ${question}`, options: choices.map((choice, index) => ({ label: shown(choice, index), value: choice, words: [String(index + 1), choice] })), freeText: true, answerer: 'asker', timeoutMs };
};

const choiceNamed = (word: string, choices: readonly string[]): string | undefined => {
  const wanted = word.trim().replace(/\s*\(recommended\)$/i, '').toLowerCase();
  return choices[Number(wanted) - 1] ?? choices.find((choice) => choice.toLowerCase() === wanted);
};

/** The choices that an answer names by number or by name; the person's own words when it names anything else. */
const readAnswer = ({ choices = [], multi_select }: Asked, value: string): string | readonly string[] => {
  if (!multi_select) return choiceNamed(value, choices) ?? value;
  const parts = value.split(/[,;\n]|\s+(?=\d+(?:\s|$))/).filter((part) => part.trim() !== '');
  const named = parts.map((part) => choiceNamed(part, choices));
  const found = named.filter((choice) => choice !== undefined);
  return found.length > 0 && found.length === named.length ? [...new Set(found)] : value;
};

const decideYourself = 'Decide by yourself what is most sensible, say what you have assumed, and go on.';

const noAnswer = (answer: Exclude<Answer, { type: 'answered' }>): string =>
  answer.type === 'expired' ? `The person did not answer in time. ${decideYourself}` : `There is nobody here who could be asked. ${decideYourself}`;

const askAll = async (questions: readonly Asked[], timeoutMs: number, call: { readonly context: ToolContext; readonly signal: AbortSignal }): Promise<string> => {
  const answers: { readonly question: string; readonly answer: string | readonly string[] }[] = [];
  for (const asked of questions) {
    const answer = await call.context.ask(asQuestion(asked, timeoutMs), call.signal);
    if (answer.type !== 'answered') return JSON.stringify({ answers, note: noAnswer(answer), unanswered: questions.slice(answers.length).map(({ question }) => question) });
    answers.push({ question: asked.question, answer: readAnswer(asked, answer.value) });
  }
  return JSON.stringify({ answers });
};

/** Lets the agent ask the person it works for. `timeoutSeconds` is read with every question. */
export const clarifyTool = (timeoutSeconds: () => number): Tool =>
  defineTool({
    name: 'clarify',
    description:
      'Asks the person a question and waits for the answer. Use it when you cannot go on sensibly without a decision of theirs, not for what you can find out yourself, and not to get a dangerous command approved: that is asked for by itself.',
    args,
    run: ({ question, questions, choices, multi_select }, context, signal) => {
      const asked = questions ?? (question === undefined ? [] : [{ question, choices, multi_select }]);
      return askAll(asked, Math.min(longestMs, timeoutSeconds() * 1000 || longestMs), { context, signal });
    },
  });
