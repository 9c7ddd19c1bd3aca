import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@modelcontextprotocol/client';
import type { Answer, Question, QuestionOption } from '../../../core/question.ts';
import { listOf, recordOf, textOf } from '../../models/wires/json-fields.ts';
import { boundedLine, boundedText } from '../clean-text.ts';

type FieldValue = string | number | boolean | string[];

/** One thing that a server wants to know. */
interface Field {
  readonly key: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'whole' | 'yes_or_no' | 'one_of' | 'some_of';
  readonly choices: readonly { readonly label: string; readonly value: string }[];
  readonly required: boolean;
  readonly fallback: FieldValue | undefined;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Interview {
  /** The server's name. */
  readonly server: string;
  readonly timeoutMs: number;
  ask(question: Question): Promise<Answer>;
}

const maxFields = 10;
const maxChoices = 25;
const maxTries = 3;
const decline = 'hermes:decline';
const skip = 'hermes:skip';

const choicesOf = (schema: Readonly<Record<string, unknown>>): Field['choices'] => {
  const titled = (listOf(schema['oneOf']) ?? listOf(schema['anyOf']) ?? []).map(recordOf);
  const names = listOf(schema['enumNames']);
  const plain = (listOf(schema['enum']) ?? []).map((value, index) => ({ value, label: names?.[index] ?? value }));
  return [...plain, ...titled.map((each) => ({ value: each?.['const'], label: each?.['title'] ?? each?.['const'] }))]
    .flatMap(({ value, label }) => (typeof value === 'string' && typeof label === 'string' ? [{ value, label: boundedLine(label, 60) }] : []))
    .slice(0, maxChoices);
};

const kindOf = (schema: Readonly<Record<string, unknown>>, choices: Field['choices']): Field['kind'] => {
  if (schema['type'] === 'array') return 'some_of';
  if (choices.length > 0) return 'one_of';
  if (schema['type'] === 'boolean') return 'yes_or_no';
  if (schema['type'] === 'integer') return 'whole';
  return schema['type'] === 'number' ? 'number' : 'text';
};

const fallbackOf = (value: unknown): FieldValue | undefined => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
};

const fieldsOf = (params: ElicitRequestFormParams): readonly Field[] => {
  const schema = recordOf(params.requestedSchema);
  const required = new Set(listOf(schema?.['required']));
  return Object.entries(recordOf(schema?.['properties']) ?? {}).map(([key, value]) => {
    const own = recordOf(value) ?? {};
    const choices = choicesOf(own['type'] === 'array' ? (recordOf(own['items']) ?? {}) : own);
    const label = boundedLine([textOf(own['title']) ?? key, textOf(own['description'])].filter((part) => part !== undefined).join(': '), 500);
    return { key, label, kind: kindOf(own, choices), choices, required: required.has(key), fallback: fallbackOf(own['default']), schema: own };
  });
};

type Read = { readonly ok: true; readonly value: FieldValue } | { readonly ok: false; readonly reason: string };

const within = (field: Field, value: number, [least, most]: readonly [string, string]): string | undefined => {
  const { [least]: low, [most]: high } = field.schema;
  if (typeof low === 'number' && value < low) return `not less than ${low}`;
  return typeof high === 'number' && value > high ? `not more than ${high}` : undefined;
};

const readNumber = (field: Field, text: string): Read => {
  const value = text.trim() === '' ? Number.NaN : Number(text.trim().replace(',', '.'));
  if (!Number.isFinite(value) || (field.kind === 'whole' && !Number.isInteger(value))) return { ok: false, reason: field.kind === 'whole' ? 'a whole number' : 'a number' };
  const limit = within(field, value, ['minimum', 'maximum']);
  return limit === undefined ? { ok: true, value } : { ok: false, reason: limit };
};

const readText = (field: Field, text: string): Read => {
  const limit = within(field, text.length, ['minLength', 'maxLength']);
  return limit === undefined ? { ok: true, value: text } : { ok: false, reason: `${limit} characters` };
};

/** A choice by its number, its label or its value. */
const choiceIn = (field: Field, text: string): string | undefined => {
  const word = text.trim().toLowerCase();
  return (field.choices[Number(word) - 1] ?? field.choices.find(({ label, value }) => label.toLowerCase() === word || value.toLowerCase() === word))?.value;
};

const readChoices = (field: Field, text: string): Read => {
  const chosen = text.split(/[,;\n]/).filter((part) => part.trim() !== '').map((part) => choiceIn(field, part));
  const values = chosen.filter((value) => value !== undefined);
  return values.length === chosen.length && values.length > 0 ? { ok: true, value: [...new Set(values)] } : { ok: false, reason: 'numbers from the list, separated by commas' };
};

const readField = (field: Field, text: string): Read => {
  switch (field.kind) {
    case 'text':
      return readText(field, text);
    case 'number':
    case 'whole':
      return readNumber(field, text);
    case 'yes_or_no':
      return text === 'yes' || text === 'no' ? { ok: true, value: text === 'yes' } : { ok: false, reason: 'yes or no' };
    case 'one_of': {
      const value = choiceIn(field, text);
      return value === undefined ? { ok: false, reason: 'one from the list' } : { ok: true, value };
    }
    case 'some_of':
      return readChoices(field, text);
    default:
      return field.kind satisfies never;
  }
};

const skippable = (field: Field): boolean => field.fallback !== undefined || !field.required;

const skipLabel = (field: Field): string => (field.fallback === undefined ? 'Skip' : `Use ${boundedLine(String(field.fallback), 40)}`);

/** Buttons, where the answer is one of a few; a number typed beside buttons would press one of them. */
const offered = (field: Field): readonly QuestionOption[] => {
  if (isWritten(field)) return [];
  const answers = field.kind === 'one_of' ? field.choices : [{ label: 'Yes', value: 'yes' }, { label: 'No', value: 'no' }];
  return [...answers, ...(skippable(field) ? [{ label: skipLabel(field), value: skip }] : []), { label: 'Decline', value: decline }];
};

const isWritten = ({ kind }: Field): boolean => kind !== 'one_of' && kind !== 'yes_or_no';

/** What is written below a question that is answered by writing. */
const hint = (field: Field): string => {
  const choices = field.choices.map(({ label }, index) => `\n${index + 1}. ${label}`).join('');
  const way = skippable(field) ? `\nWrite \`skip\` to ${field.fallback === undefined ? 'leave it out' : boundedLine(`use ${String(field.fallback)}`, 60)}, or \`decline\` to answer nothing at all.` : '\nWrite `decline` to answer nothing at all.';
  return isWritten(field) ? `${choices}${way}` : '';
};

/** What a person means by an answer, before it is read as a value. */
const wishOf = (field: Field, value: string): 'decline' | 'skip' | 'value' => {
  const word = isWritten(field) ? `hermes:${value.trim().toLowerCase()}` : value;
  if (word === decline) return 'decline';
  return word === skip && skippable(field) ? 'skip' : 'value';
};

type Asked = { readonly type: 'value'; readonly value: FieldValue | undefined } | { readonly type: 'decline' } | { readonly type: 'cancel' };

const askField = async (field: Field, heading: string, interview: Interview): Promise<Asked> => {
  let complaint = '';
  for (let tries = 0; tries < maxTries; tries += 1) {
    const text = `${complaint}${heading}\n${field.label}${hint(field)}`;
    const answer = await interview.ask({ text, options: offered(field), answerer: 'asker', timeoutMs: interview.timeoutMs });
    if (answer.type === 'unattended') return { type: 'decline' };
    if (answer.type === 'expired') return { type: 'cancel' };
    const wish = wishOf(field, answer.value);
    if (wish === 'decline') return { type: 'decline' };
    if (wish === 'skip') return { type: 'value', value: field.fallback };
    const read = readField(field, answer.value);
    if (read.ok) return { type: 'value', value: read.value };
    complaint = `That does not fit: ${read.reason}, please.\n`;
  }
  return { type: 'cancel' };
};

const confirm = async (text: string, yes: string, interview: Interview): Promise<ElicitResult['action']> => {
  const options = [{ label: yes, value: 'accept' }, { label: 'Decline', value: decline }];
  const answer = await interview.ask({ text, options, answerer: 'asker', timeoutMs: interview.timeoutMs });
  if (answer.type === 'answered') return answer.value === 'accept' ? 'accept' : 'decline';
  return answer.type === 'expired' ? 'cancel' : 'decline';
};

/**
 * Asks the person of the conversation what a server wants to know, one field at a time. Nothing is sent to the server that the person has not
 * given or agreed to; without a person the server is told that nobody answers.
 */
export const elicit = async (params: ElicitRequestFormParams, interview: Interview): Promise<ElicitResult> => {
  const fields = fieldsOf(params);
  const heading = `**${boundedLine(interview.server, 64)}** asks: ${boundedText(params.message, 1_000)}`;
  if (fields.length > maxFields) return { action: 'decline' };
  if (fields.length === 0) {
    const action = await confirm(heading, 'Accept', interview);
    return action === 'accept' ? { action, content: {} } : { action };
  }
  const given: [string, FieldValue][] = [];
  for (const field of fields) {
    const asked = await askField(field, heading, interview);
    if (asked.type !== 'value') return { action: asked.type };
    if (asked.value !== undefined) given.push([field.key, asked.value]);
  }
  return { action: 'accept', content: Object.fromEntries(given) };
};

/** Shows the person an address that the server wants to be opened; the gateway never opens one itself. */
export const elicitVisit = async (params: ElicitRequestURLParams, interview: Interview): Promise<ElicitResult> => {
  const url = URL.parse(params.url);
  if (url === null || url.protocol !== 'https:') return { action: 'decline' };
  const text = `**${boundedLine(interview.server, 64)}** asks you to open a page of \`${url.host}\`: ${boundedText(params.message, 1_000)}\n${url.href}`;
  return { action: await confirm(text, 'I have done it', interview) };
};
