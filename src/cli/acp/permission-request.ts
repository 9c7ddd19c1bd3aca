import type { PermissionOption, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { Choice } from '../../core/message.ts';
import type { QuestionOption } from '../../core/question.ts';
import type { StoredQuestion } from '../../store/agents/questions.ts';

const refusing = new Set(['deny', 'no', 'cancel', 'reject', 'never']);
const lasting = new Set(['session', 'always']);

/** What an option means is in its value, whatever it is called. */
const kindOf = ({ value }: QuestionOption): PermissionOption['kind'] => {
  const [verdict = ''] = value.split(':');
  if (refusing.has(verdict)) return 'reject_once';
  return lasting.has(verdict) ? 'allow_always' : 'allow_once';
};

const titleOf = (text: string): string => (text.split('\n', 1)[0] ?? '').replaceAll(/[*_`]/g, '').trim().slice(0, 120).toWellFormed();

/** One of our questions as an editor asks it. The id of an option is what its button says. */
export const permissionRequest = (sessionId: string, { id, question }: StoredQuestion, choices: readonly Choice[]): RequestPermissionRequest => ({
  sessionId,
  toolCall: { toolCallId: `question-${id}`, title: titleOf(question.text), kind: 'other', status: 'pending', content: [{ type: 'content', content: { type: 'text', text: question.text } }] },
  options: choices.map(({ label, data }, index) => ({ optionId: data, name: label, kind: kindOf(question.options[index] ?? { label, value: '' }) })),
});
