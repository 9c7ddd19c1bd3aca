import type { Logger } from '../../../lib/logger.ts';
import type { MatrixApi, SendEvent } from '../api.ts';
import { MatrixError } from '../errors.ts';
import { path } from '../http.ts';
import type { Json } from '../wire.ts';
import type { Library, Machine, Work } from './machine.ts';

/** A call that the machine wants made, taken out of it so that it outlives it. */
export interface KeyRequest {
  readonly id: string;
  readonly kind: 'upload' | 'query' | 'claim' | 'to device' | 'signatures' | 'room message';
  readonly body: Json;
  readonly type: number;
  /** Of messages to devices and rooms. */
  readonly eventType?: string;
  readonly txn?: string;
  readonly roomId?: string;
}

type AnyRequest = Awaited<ReturnType<Work['olm']['outgoingRequests']>>[number] | Library.KeysClaimRequest | Library.ToDeviceRequest | Library.RoomMessageRequest | Library.SignatureUploadRequest;

/** Undefined for what we have no use for. */
export const readRequest = (library: typeof Library, request: AnyRequest): KeyRequest | undefined => {
  const { RequestType: types } = library;
  const body = (): Json => JSON.parse(request.body) as Json;
  const base = { id: request.id ?? '', type: request.type };
  switch (request.type) {
    case types.KeysUpload:
      return { ...base, kind: 'upload', body: body() };
    case types.KeysQuery:
      return { ...base, kind: 'query', body: body() };
    case types.KeysClaim:
      return { ...base, kind: 'claim', body: body() };
    case types.SignatureUpload:
      return { ...base, kind: 'signatures', body: body() };
    case types.ToDevice: {
      const { event_type: eventType, txn_id: txn } = request as Library.ToDeviceRequest;
      return { ...base, kind: 'to device', body: body(), eventType, txn };
    }
    case types.RoomMessage: {
      const { event_type: eventType, txn_id: txn, room_id: roomId } = request as Library.RoomMessageRequest;
      return { ...base, kind: 'room message', body: body(), eventType, txn, roomId };
    }
    default:
      return undefined;
  }
};

/** How calls are made; `post` is the way into a room, which encrypts where it has to. */
export interface Calling {
  readonly api: MatrixApi;
  readonly machine: Machine;
  readonly log: Logger;
  post(event: SendEvent, signal: AbortSignal): Promise<string>;
}

const post = (api: MatrixApi, what: string, where: string, json: Json, signal: AbortSignal): Promise<Json> => api.http.call({ what, method: 'POST', path: where, json }, signal);

const call = async ({ api, post: postEvent }: Calling, request: KeyRequest, signal: AbortSignal): Promise<Json> => {
  const { body, eventType = '', txn = '', roomId = '' } = request;
  switch (request.kind) {
    case 'upload':
      return post(api, 'keys upload', '/_matrix/client/v3/keys/upload', body, signal);
    case 'query':
      return post(api, 'keys query', '/_matrix/client/v3/keys/query', body, signal);
    case 'claim':
      return post(api, 'keys claim', '/_matrix/client/v3/keys/claim', body, signal);
    case 'signatures':
      return post(api, 'signatures upload', '/_matrix/client/v3/keys/signatures/upload', body, signal);
    case 'to device':
      return api.http.call({ what: 'send to device', method: 'PUT', path: path`/_matrix/client/v3/sendToDevice/${eventType}/${txn}`, json: body }, signal);
    case 'room message':
      return { event_id: await postEvent({ roomId, type: eventType, content: body, txn }, signal) };
    default:
      return request.kind satisfies never;
  }
};

/** Makes the calls, and tells the machine what came of them. What the machine had to remember for them is durable before they leave. */
export const makeCalls = async (calling: Calling, requests: readonly KeyRequest[], signal: AbortSignal): Promise<void> => {
  const { machine } = calling;
  for (const request of requests) {
    const answer = await call(calling, request, signal);
    if (request.id !== '') await machine.change(({ olm }) => olm.markRequestAsSent(request.id, request.type, JSON.stringify(answer)));
  }
};

/** What the machine wants to have called now. */
export const wantedCalls = (machine: Machine): Promise<readonly KeyRequest[]> =>
  machine.change(async ({ olm, library }) => (await olm.outgoingRequests()).map((request) => readRequest(library, request)).filter((request) => request !== undefined));

const mostRounds = 10;

/** Refusals that are no reason to end the connection: it would be refused again, and people could not write either. */
export const isFinal = (error: unknown): boolean => error instanceof MatrixError && ['rejected', 'forbidden', 'unsupported', 'chat_gone', 'not_found'].includes(error.code);

/** Makes all of the calls that can be made, and answers those that the homeserver refuses. */
export const tryCalls = async (calling: Calling, requests: readonly KeyRequest[], signal: AbortSignal): Promise<readonly KeyRequest[]> => {
  const refused: KeyRequest[] = [];
  for (const request of requests) {
    try {
      await makeCalls(calling, [request], signal);
    } catch (error) {
      if (!isFinal(error)) throw error;
      refused.push(request);
      calling.log.warn({ err: error, call: request.kind }, 'matrix.keys_refused');
    }
  }
  return refused;
};

/** Calls that were made may ask for more: the answer to a query, a claim. What the homeserver refuses is asked again with the next answer of the stream. */
export const settleCalls = async (calling: Calling, signal: AbortSignal): Promise<void> => {
  const refused = new Set<string>();
  for (let round = 0; round < mostRounds; round += 1) {
    const requests = (await wantedCalls(calling.machine)).filter(({ id }) => !refused.has(id));
    if (requests.length === 0) return;
    for (const { id } of await tryCalls(calling, requests, signal)) refused.add(id);
  }
};
