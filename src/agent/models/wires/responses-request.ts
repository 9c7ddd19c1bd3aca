import type { ToolCall, TranscriptMessage } from '../../../core/transcript.ts';
import { alternate } from '../../alternation.ts';
import type { ReasoningEffort } from '../../../core/reasoning-effort.ts';
import type { ModelRequest } from '../contract.ts';
import { thinksBeforeSpeaking } from '../facts/known-models.ts';
import { dataUrl, imagesOf, partsOf, textSlices, wireArguments, wireId, wireName, wireResult, wireText } from './wire.ts';
import type { WireContext, WireRequest } from './wire.ts';

type Item = Readonly<Record<string, unknown>>;

const userItem = (row: TranscriptMessage, context: WireContext): Item => {
  const text = wireText(row, context);
  const images = imagesOf(row, context.images);
  if (images.length === 0) return { role: 'user', content: text };
  const parts = images.map((image) => ({ type: 'input_image', detail: 'auto', image_url: dataUrl(image) }));
  return { role: 'user', content: [{ type: 'input_text', text }, ...parts] };
};

const callItem = (call: ToolCall): Item => ({ type: 'function_call', call_id: wireId(call.id), name: wireName(call.name), arguments: wireArguments(call.arguments) });

const assistantItems = (row: TranscriptMessage, context: WireContext): readonly Item[] => {
  const parts = partsOf(row, context.maker);
  const slices = textSlices(row, parts);
  const calls = new Map((row.toolCalls ?? []).map((call) => [call.id, call]));
  return parts.flatMap((part, index): readonly Item[] => {
    switch (part.type) {
      case 'opaque':
        return [part.json];
      case 'text':
        return slices[index] === '' ? [] : [{ role: 'assistant', content: slices[index], ...(part.phase !== undefined && { phase: part.phase }) }];
      case 'call': {
        const call = calls.get(part.id);
        return call === undefined ? [] : [callItem(call)];
      }
      default:
        return part satisfies never;
    }
  });
};

const itemsOf = (row: TranscriptMessage, context: WireContext): readonly Item[] => {
  switch (row.role) {
    case 'user':
      return [userItem(row, context)];
    case 'assistant':
      return assistantItems(row, context);
    case 'tool':
      return [{ type: 'function_call_output', call_id: wireId(row.toolCallId ?? ''), output: wireResult(row) }];
    default:
      return row.role satisfies never;
  }
};

const reasoning = (effort: ReasoningEffort | undefined): Item => ({ ...(effort !== undefined && { effort }), ...(effort !== 'none' && { summary: 'auto' }) });

/** The JSON body of a call that leaves nothing behind at the endpoint: reasoning comes back encrypted and is sent again by us. */
export const responsesRequest = (request: ModelRequest, context: WireContext): WireRequest => {
  const { conceded, effort } = context;
  const thinks = effort !== undefined || thinksBeforeSpeaking(request.model);
  const body = JSON.stringify({
    model: request.model,
    store: false,
    ...(request.tools.length > 0 && { tools: request.tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false })) }),
    ...(request.system !== '' && { instructions: request.system.toWellFormed() }),
    input: alternate(request.messages).flatMap((row) => itemsOf(row, context)),
    ...(request.tools.length > 0 && request.toolChoice !== undefined && { tool_choice: typeof request.toolChoice === 'string' ? request.toolChoice : { type: 'function', ...request.toolChoice } }),
    ...(request.maxOutputTokens !== undefined && { max_output_tokens: request.maxOutputTokens }),
    ...(thinks && !conceded.has('encrypted_reasoning') && { include: ['reasoning.encrypted_content'] }),
    ...(thinks && !conceded.has('effort') && { reasoning: reasoning(effort) }),
    stream: !conceded.has('stream'),
  });
  return { body };
};
