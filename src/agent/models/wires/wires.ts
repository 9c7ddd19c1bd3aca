import { newAnthropicAnswer } from './anthropic-answer.ts';
import { anthropicRequest } from './anthropic-request.ts';
import { newChatAnswer } from './chat-answer.ts';
import { chatRequest } from './chat-request.ts';
import { newResponsesAnswer } from './responses-answer.ts';
import { responsesRequest } from './responses-request.ts';
import type { Wire } from './wire.ts';

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

/** The wire formats, by name. */
export const wires: { readonly [Name in Wire['name']]: Wire } = {
  chat: { name: 'chat', path: '/chat/completions', authorize: bearer, request: chatRequest, answer: newChatAnswer },
  responses: { name: 'responses', path: '/responses', authorize: bearer, request: responsesRequest, answer: newResponsesAnswer },
  anthropic: {
    name: 'anthropic',
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    authorize: (key) => ({ 'x-api-key': key }),
    request: anthropicRequest,
    answer: newAnthropicAnswer,
  },
};
