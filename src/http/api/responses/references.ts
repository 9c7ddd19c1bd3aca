import type { ApiGate } from '../../../gateway/api/api-gate.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import type { Json } from './input.ts';
import { responseOfItem } from './item-id.ts';
import { item as itemSchema } from './request.ts';
import type { BareRequest, InputItem, ResponseRequest } from './request.ts';
import { findResponse, shownResponse } from './stored.ts';

/** The items of one response, asked ones and answered ones. */
const itemsOfResponse = async (gate: ApiGate, caller: Caller, id: string): Promise<readonly Json[]> => {
  const found = await findResponse(gate, caller, id);
  if (found === undefined) return [];
  const { output } = await shownResponse(found);
  return [...found.request.wire.head.input, ...output];
};

/** The request with the items that it only names put in their places; throws the refusal for one that this key does not have. */
export const withReferences = async (request: BareRequest, { gate, caller }: { readonly gate: ApiGate; readonly caller: Caller }): Promise<ResponseRequest> => {
  if (typeof request.input === 'string') return { ...request, input: request.input };
  const known = new Map<string, readonly Json[]>();
  const input: InputItem[] = [];
  for (const [index, item] of request.input.entries()) {
    if (item.type !== 'item_reference') {
      input.push(item);
      continue;
    }
    const responseId = responseOfItem(item.id);
    if (responseId !== undefined && !known.has(responseId)) known.set(responseId, await itemsOfResponse(gate, caller, responseId));
    const found = known.get(responseId ?? '')?.find(({ id }) => id === item.id);
    if (found === undefined) throw new ApiError(404, `Item with id '${item.id.slice(0, 100)}' not found. Items of responses that were not stored have to be sent whole.`, { code: 'item_not_found', param: `input[${index}].id` });
    input.push(itemSchema.parse(found));
  }
  return { ...request, input };
};
