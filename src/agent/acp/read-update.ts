import { amountOf, listOf, recordOf, textOf } from '../models/wires/json-fields.ts';

export type CallStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

/** What is new about a call of one of the agent's own tools; what is left out has not changed. */
export interface CallChange {
  readonly type: 'call';
  readonly id: string;
  readonly title?: string;
  /** The tool's own name or, for lack of one, its kind. */
  readonly name?: string;
  readonly status?: CallStatus;
  readonly input?: unknown;
  readonly output?: string;
}

/** What an agent told about a session, as far as we can use it. */
export type AcpUpdate =
  | { readonly type: 'text' | 'thought'; readonly text: string; readonly messageId?: string }
  | CallChange
  /** Of the whole session so far. */
  | { readonly type: 'cost'; readonly usd: number };

const statuses: readonly string[] = ['pending', 'in_progress', 'completed', 'failed'] satisfies readonly CallStatus[];

const statusOf = (value: unknown): CallStatus | undefined => (typeof value === 'string' && statuses.includes(value) ? (value as CallStatus) : undefined);

/** What people can read of a content block. */
export const blockText = (value: unknown): string => {
  const block = recordOf(value);
  switch (block?.['type']) {
    case 'text':
      return textOf(block['text']) ?? '';
    case 'resource_link':
      return `[${textOf(block['title']) ?? textOf(block['name']) ?? 'file'}](${textOf(block['uri']) ?? ''})`;
    case 'resource':
      return textOf(recordOf(block['resource'])?.['text']) ?? `[${textOf(recordOf(block['resource'])?.['uri']) ?? 'a file'}]`;
    case 'image':
    case 'audio':
      return `[${block['type']}]`;
    default:
      return '';
  }
};

const contentText = (value: unknown): string | undefined => {
  const parts = listOf(value)?.flatMap((each) => {
    const content = recordOf(each);
    if (content?.['type'] === 'content') return [blockText(content['content'])];
    return content?.['type'] === 'diff' ? [`changed ${textOf(content['path']) ?? 'a file'}`] : [];
  });
  const text = parts?.filter((part) => part !== '').join('\n') ?? '';
  return text === '' ? undefined : text;
};

const rawText = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const callOf = (update: Readonly<Record<string, unknown>>): CallChange | undefined => {
  const id = textOf(update['toolCallId']);
  if (id === undefined || id === '') return undefined;
  const title = textOf(update['title']);
  const name = textOf(update['name']) ?? textOf(update['kind']);
  const status = statusOf(update['status']);
  const output = contentText(update['content']) ?? rawText(update['rawOutput']);
  const input: unknown = update['rawInput'];
  return {
    type: 'call',
    id,
    ...(title !== undefined && title !== '' && { title }),
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(input !== undefined && input !== null && { input }),
    ...(output !== undefined && { output }),
  };
};

const chunkOf = (update: Readonly<Record<string, unknown>>, type: 'text' | 'thought'): AcpUpdate | undefined => {
  const text = blockText(update['content']);
  const messageId = textOf(update['messageId']);
  return text === '' ? undefined : { type, text, ...(messageId !== undefined && { messageId }) };
};

/** Reads what agents really send: what is unknown, of no use here or not as it should be is undefined, never an error. */
export const readUpdate = (value: unknown): AcpUpdate | undefined => {
  const update = recordOf(value) ?? {};
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return chunkOf(update, 'text');
    case 'agent_thought_chunk':
      return chunkOf(update, 'thought');
    case 'tool_call':
      return callOf({ status: 'pending', ...update });
    case 'tool_call_update':
      return callOf(update);
    case 'usage_update': {
      const cost = recordOf(update['cost']);
      const usd = cost?.['currency'] === 'USD' ? amountOf(cost['amount']) : undefined;
      return usd === undefined ? undefined : { type: 'cost', usd };
    }
    default:
      return undefined;
  }
};
