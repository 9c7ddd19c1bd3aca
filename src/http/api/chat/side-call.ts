import { wordsAndImages } from '../content.ts';
import type { ChatRequest } from './request.ts';

/** How the questions of Open WebUI and of LibreChat begin that are about a conversation and no part of it: for a title, for tags, for what could be asked next. */
const beginnings: readonly RegExp[] = [
  /^### Task:\n(?=[^]*<chat_history>)/,
  /^Provide a concise, 5-word-or-less title for the conversation/,
  /^Analyze this conversation and provide:\n1\. The detected language/,
];

/** Whether a web client asks this beside the conversation that it names. */
export const isSideCall = ({ messages }: ChatRequest): boolean => {
  const said = messages.filter(({ role }) => role !== 'system' && role !== 'developer');
  const [only] = said;
  return only?.role === 'user' && said.length === 1 && beginnings.some((beginning) => beginning.test(wordsAndImages(only.content, ['messages']).text.trimStart()));
};
