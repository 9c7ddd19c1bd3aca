import type { PermissionOption, RequestPermissionOutcome, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { Answer, Question, QuestionOption } from '../../core/question.ts';
import { fenced, fingerprint, shownText } from '../approvals/visible-text.ts';
import { recordOf, textOf } from '../models/wires/json-fields.ts';

/** What an agent asks a person to allow. */
export interface PermissionQuestion {
  readonly question: Question;
  /** The call, and exactly what it would do: an answer is never taken for anything else. */
  readonly callId: string;
  outcome(answer: Answer): RequestPermissionOutcome;
}

const cancelled: RequestPermissionOutcome = { outcome: 'cancelled' };
const selected = ({ optionId }: PermissionOption): RequestPermissionOutcome => ({ outcome: 'selected', optionId });

const maxOptions = 8;
const maxLabelChars = 60;

const words: Readonly<Record<PermissionOption['kind'], readonly string[]>> = {
  allow_once: ['yes', 'y', 'ok', 'okay', 'approve', 'allow', 'confirm', 'go', 'once', '👍'],
  allow_always: ['always', 'approve always', 'allow always', 'yes always'],
  reject_once: ['no', 'n', 'deny', 'reject', 'cancel', '👎'],
  reject_always: ['never'],
};

const values: Readonly<Record<PermissionOption['kind'], string>> = { allow_once: 'once', allow_always: 'always', reject_once: 'deny', reject_always: 'never' };

/** Everything that the request says about what would be done. */
const subjectOf = ({ toolCall }: RequestPermissionRequest): string => {
  const command = textOf(recordOf(toolCall.rawInput)?.['command']);
  const changes = (toolCall.content ?? []).flatMap((each) => (each.type === 'diff' ? [`${each.path}:\n${each.newText}`] : []));
  const places = (toolCall.locations ?? []).map(({ path }) => path);
  const detail = command ?? (changes.length > 0 ? changes.join('\n\n') : toolCall.rawInput === undefined ? places.join('\n') : JSON.stringify(toolCall.rawInput, null, 2));
  const title = toolCall.title ?? toolCall.name ?? toolCall.kind ?? 'something';
  return detail === '' || detail === title ? title : `${title}\n${detail}`;
};

/** The first option of each kind has the value and the words that approvals have everywhere. */
const optionsOf = (options: readonly PermissionOption[], bound: string): readonly QuestionOption[] =>
  options.map((option, index) => {
    const isFirst = options.findIndex(({ kind }) => kind === option.kind) === index;
    const label = option.name.slice(0, maxLabelChars).toWellFormed();
    if (!isFirst) return { label, value: `option:${index}:${bound}` };
    return { label, value: option.kind === 'reject_once' ? values[option.kind] : `${values[option.kind]}:${bound}`, words: words[option.kind] };
  });

const minutes = (ms: number): string => (ms < 120_000 ? `${Math.round(ms / 1000)} seconds` : `${Math.round(ms / 60_000)} minutes`);

const refusal = (options: readonly PermissionOption[]): RequestPermissionOutcome => {
  const reject = options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
  return reject === undefined ? cancelled : selected(reject);
};

/** Whatever is not allowed in so many words is refused. */
export const permissionQuestion = (request: RequestPermissionRequest, by: { readonly agent: string; readonly timeoutMs: number }): PermissionQuestion => {
  const options = request.options.slice(0, maxOptions);
  const subject = subjectOf(request);
  const bound = fingerprint(subject, JSON.stringify(options));
  const asked = optionsOf(options, bound);
  const hasRefusal = options.some(({ kind }) => kind === 'reject_once');
  return {
    question: {
      text: `⚠️ **May I do this?** (${by.agent})\n\n${fenced(shownText(subject))}\n\nNo answer within ${minutes(by.timeoutMs)} means no.`,
      options: hasRefusal ? asked : [...asked, { label: 'Deny', value: 'deny', words: words.reject_once }],
      answerer: 'approver',
      timeoutMs: by.timeoutMs,
    },
    callId: `acp:${request.toolCall.toolCallId}:${bound}`,
    outcome(answer) {
      const index = answer.type === 'answered' ? asked.findIndex(({ value }) => value === answer.value) : -1;
      const chosen = options[index];
      return chosen === undefined ? refusal(options) : selected(chosen);
    },
  };
};

/** For conversations in which approvals are switched off: the narrowest that allows it. */
export const allowing = ({ options }: RequestPermissionRequest): RequestPermissionOutcome | undefined => {
  const option = options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind === 'allow_always');
  return option === undefined ? undefined : selected(option);
};
