import type { TranscriptMessage } from '../../../core/transcript.ts';
import type { ApiGate } from '../../../gateway/api/api-gate.ts';
import { ApiError } from '../api-error.ts';
import { keepImages, textOf, wordsAndImages } from '../content.ts';
import type { Content } from '../content.ts';
import { formatInstructions } from '../output-format.ts';
import { itemId } from './item-id.ts';
import { innerName } from './namespaces.ts';
import type { InputItem, ResponseRequest } from './request.ts';

export type Json = Readonly<Record<string, unknown>>;

const itemsOf = ({ input }: Pick<ResponseRequest, 'input'>): readonly InputItem[] => (typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input);

/** What the client tells the agent, from wherever in the request it stands. */
export const instructionsOf = (request: ResponseRequest): string => {
  const said = itemsOf(request).flatMap((item, index) => (item.type === 'message' && (item.role === 'system' || item.role === 'developer') ? [textOf(item.content, ['input', index, 'content'])] : []));
  return [request.instructions ?? '', ...said, formatInstructions(request.text?.format) ?? ''].filter((text) => text !== '').join('\n');
};

/** The input as the agent reads it. Calls and words that the model said in one breath are one message. */
export const rowsOf = async (request: ResponseRequest, keep: { readonly gate: ApiGate; readonly sessionId: string; readonly signal: AbortSignal }): Promise<readonly TranscriptMessage[]> => {
  const rows: TranscriptMessage[] = [];
  for (const [index, item] of itemsOf(request).entries()) {
    const path = ['input', index, 'content'];
    const last = rows.at(-1);
    switch (item.type) {
      case 'message': {
        if (item.role === 'system' || item.role === 'developer') break;
        if (item.role === 'assistant') {
          rows.push({ role: 'assistant', content: textOf(item.content, path).toWellFormed() });
          break;
        }
        const { text, images } = wordsAndImages(item.content, path);
        const attachments = await keepImages(images, keep);
        rows.push({ role: 'user', content: text.toWellFormed(), ...(attachments.length > 0 && { attachments }) });
        break;
      }
      case 'function_call': {
        const call = { id: item.call_id, name: innerName(item.namespace, item.name), arguments: item.arguments };
        if (last?.role === 'assistant') rows.splice(-1, 1, { ...last, toolCalls: [...(last.toolCalls ?? []), call] });
        else rows.push({ role: 'assistant', content: '', toolCalls: [call] });
        break;
      }
      case 'function_call_output':
        rows.push({ role: 'tool', content: textOf(item.output, ['input', index, 'output']).toWellFormed(), toolCallId: item.call_id, toolName: nameOf(rows, item.call_id) });
        break;
      case 'reasoning':
        break;
      default:
        throw item satisfies never;
    }
  }
  checkEnd(rows);
  return rows;
};

/** Empty for a call that an earlier response has made. */
const nameOf = (rows: readonly TranscriptMessage[], callId: string): string => rows.flatMap((row) => row.toolCalls ?? []).find((call) => call.id === callId)?.name ?? '';

const checkEnd = (rows: readonly TranscriptMessage[]): void => {
  const last = rows.at(-1);
  const empty = last === undefined || last.role === 'assistant' || (last.role === 'user' && last.content.trim() === '' && last.attachments === undefined);
  if (empty) throw new ApiError(400, 'There is nothing to answer: the input has to end with a message of a user, or with the output of a function.', { code: 'invalid_value', param: 'input' });
};

const shownPart = (part: Exclude<Content, string>[number]): Json => {
  if (part.type !== 'input_image' && part.type !== 'image_url') return { type: 'input_text', text: part.text ?? '' };
  const url = typeof part.image_url === 'string' ? part.image_url : part.image_url?.url;
  // A picture that came with the request is not kept a second time.
  return { type: 'input_image', image_url: url !== undefined && url.startsWith('http') ? url : null, detail: 'auto', file_id: null };
};

const shownContent = (said: Content): readonly Json[] => (typeof said === 'string' ? [{ type: 'input_text', text: said }] : said.map(shownPart));

const shownItem = (item: InputItem, index: number, responseId: string): Json | undefined => {
  const id = (prefix: 'msg' | 'fc' | 'fco'): string => itemId(prefix, responseId, `input:${index}`);
  switch (item.type) {
    case 'message':
      if (item.role !== 'assistant') return { id: id('msg'), type: 'message', status: 'completed', role: item.role, content: shownContent(item.content) };
      return { id: id('msg'), type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: textOf(item.content, []), annotations: [], logprobs: [] }] };
    case 'function_call':
      return { id: id('fc'), type: 'function_call', status: 'completed', call_id: item.call_id, name: item.name, ...(item.namespace !== undefined && item.namespace !== null && { namespace: item.namespace }), arguments: item.arguments };
    case 'function_call_output':
      return { id: id('fco'), type: 'function_call_output', status: 'completed', call_id: item.call_id, output: typeof item.output === 'string' ? item.output : shownContent(item.output) };
    case 'reasoning':
      return undefined;
    default:
      throw item satisfies never;
  }
};

/** The input as it can be looked up later. */
export const shownInput = (request: ResponseRequest, responseId: string): readonly Json[] => itemsOf(request).map((item, index) => shownItem(item, index, responseId)).filter((item) => item !== undefined);
