import type { Answer, Question, QuestionOption } from '../../core/question.ts';
import type { ApprovalRequest } from './contract.ts';
import type { Reach } from './rule.ts';
import { fenced, fingerprint, shownText } from './visible-text.ts';

const reaches: readonly Reach[] = ['once', 'session', 'always'];

const labels: Readonly<Record<Reach, string>> = { once: 'Allow once', session: 'Allow for this session', always: 'Always allow' };

const words: Readonly<Record<Reach, readonly string[]>> = {
  once: ['yes', 'y', 'ok', 'okay', 'approve', 'allow', 'confirm', 'go', 'once', '👍'],
  session: ['session', 'approve session', 'allow session', 'yes session'],
  always: ['always', 'approve always', 'allow always', 'yes always'],
};

const denyWords: readonly string[] = ['no', 'n', 'deny', 'reject', 'cancel', '👎'];

/** All classes that an approval of it would cover. */
export const patternsOf = (request: ApprovalRequest): readonly string[] => [request.pattern, ...(request.morePatterns ?? [])];

const boundTo = (request: ApprovalRequest): string => fingerprint(request.tool, request.subject);

const optionsOf = (request: ApprovalRequest): readonly QuestionOption[] => {
  const offered = reaches.slice(0, reaches.indexOf(request.widest ?? 'always') + 1);
  return [
    ...offered.map((reach) => ({ label: labels[reach], value: `${reach}:${boundTo(request)}`, words: words[reach] })),
    { label: 'Deny', value: 'deny', words: denyWords },
  ];
};

const listed = (items: readonly string[]): string => (items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`);

const minutes = (ms: number): string => (ms < 120_000 ? `${Math.round(ms / 1000)} seconds` : `${Math.round(ms / 60_000)} minutes`);

/** Asks a person about exactly this. */
export const approvalQuestion = (request: ApprovalRequest, timeoutMs: number): Question => {
  const covered = patternsOf(request).map((pattern) => `\`${pattern}\``);
  const reach = request.widest === 'once' ? '' : `\nWhat is allowed for longer is everything of this kind: ${listed(covered)}.`;
  return {
    text: `⚠️ **May I do this?** (${request.tool})\n\n${fenced(shownText(request.subject))}\n\nThis ${listed(request.reasons)}.${reach}\nNo answer within ${minutes(timeoutMs)} means no.`,
    options: optionsOf(request),
    answerer: 'approver',
    timeoutMs,
  };
};

export type Decision =
  | { readonly type: 'allowed'; readonly reach: Reach; readonly by: string }
  | { readonly type: 'denied'; readonly reason: string };

/** What /deny hands on when the person has said why. */
export const denialValue = (reason: string): string => (reason === '' ? 'deny' : `deny:${reason}`);

/** What an answer means for this request; an answer that was given to another one denies. */
export const readDecision = (answer: Answer, request: ApprovalRequest): Decision => {
  if (answer.type === 'expired') return { type: 'denied', reason: 'Nobody answered in time, and that means no. Do not try again by yourself; tell the person what you need it for' };
  if (answer.type === 'unattended') return { type: 'denied', reason: 'It needs the approval of a person, and nobody can be asked here' };
  const [verdict = '', ...rest] = answer.value.split(':');
  const reach = reaches.find((each) => each === verdict);
  if (reach === undefined) {
    const why = rest.join(':').trim();
    return { type: 'denied', reason: `The person said no${why === '' ? '' : `: ${why}`}. Do not try it in another way` };
  }
  if (rest.join(':') !== boundTo(request)) return { type: 'denied', reason: 'The approval was given for something else. Ask again' };
  return { type: 'allowed', reach, by: answer.by };
};

/** Whether a question asks for an approval, so that /approve and /deny answer it. */
export const isApproval = (question: Question): boolean => question.answerer === 'approver' && question.options.some((option) => option.value === 'deny');

/** What somebody is told who may not decide for everybody. */
export const onlyAdminsAlways = 'Only admins may allow something for good. It can be allowed once, or for this session.';

/** The value that allows what a question asks about, for as long as wanted; undefined when that is not offered. */
export const allowingValue = (question: Question, reach: Reach): string | undefined => question.options.find((option) => option.value.startsWith(`${reach}:`))?.value;
