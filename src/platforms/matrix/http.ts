import { PlatformError } from '../../core/errors.ts';
import { lostCall, MatrixError, readRefusal } from './errors.ts';
import type { CallFacts } from './errors.ts';
import { record } from './wire.ts';
import type { Json } from './wire.ts';

export interface Call extends CallFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Made with `path`, so that every part of it is escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly file?: { readonly body: Blob; readonly mime: string };
  /** How long the homeserver may hold the answer, beyond what every call may take. */
  readonly heldMs?: number;
  /** Made without a token: logging in, and asking what the homeserver can do. */
  readonly anonymous?: true;
}

/** Calls to one homeserver. Every failure is a `PlatformError`; nothing is tried twice. */
export interface Http {
  call(call: Call, signal: AbortSignal): Promise<Json>;
  /** The answer with its body unread. */
  open(call: Call, signal: AbortSignal): Promise<Response>;
}

/** A path whose values are escaped: room and event ids hold characters that mean something in an address. */
export const path = (parts: TemplateStringsArray, ...values: readonly string[]): string => parts.map((part, i) => part + encodeURIComponent(values[i] ?? '')).join('');

export interface Credential {
  /** The token to call with; may log in first. */
  token(signal: AbortSignal): Promise<string>;
  /** The homeserver did not take the token; answers what to tell. */
  refused(error: MatrixError): Promise<PlatformError>;
}

const addressOf = (homeserver: string, { path: where, query }: Call): string => {
  const url = `${homeserver.replace(/\/+$/, '')}${where}`;
  return query === undefined ? url : `${url}?${new URLSearchParams(query).toString()}`;
};

const bodyOf = ({ json, file }: Call): { body?: string | Blob; headers: Record<string, string> } => {
  if (file !== undefined) return { body: file.body, headers: { 'content-type': file.mime } };
  return json === undefined ? { headers: {} } : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
};

const readJson = async (response: Response): Promise<unknown> => {
  const body = await response.text();
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export const newHttp = (homeserver: string, requestTimeoutMs: number, credential?: Credential): Http => {
  const ask = async (call: Call, signal: AbortSignal): Promise<Response> => {
    if (signal.aborted) throw new PlatformError('aborted', `${call.what}: aborted`);
    const { body, headers } = bodyOf(call);
    if (call.anonymous !== true && credential !== undefined) headers['authorization'] = `Bearer ${await credential.token(signal)}`;
    const late = AbortSignal.timeout(requestTimeoutMs + (call.heldMs ?? 0));
    try {
      return await fetch(addressOf(homeserver, call), { method: call.method, headers, ...(body !== undefined && { body }), signal: AbortSignal.any([signal, late]), redirect: 'follow' });
    } catch (error) {
      throw lostCall(error, call, signal);
    }
  };

  const refusal = async (call: Call, response: Response): Promise<PlatformError> => {
    const error = new MatrixError(readRefusal(response.status, await readJson(response), response.headers.get('retry-after')), call);
    return error.code === 'bad_credential' && call.anonymous !== true && credential !== undefined ? credential.refused(error) : error;
  };

  return {
    async open(call, signal) {
      const response = await ask(call, signal);
      if (response.ok) return response;
      throw await refusal(call, response).catch((error: unknown) => lostCall(error, call, signal));
    },
    async call(call, signal) {
      const response = await ask(call, signal);
      try {
        if (!response.ok) throw await refusal(call, response);
        const answer = record(await readJson(response));
        if (answer !== undefined) return answer;
      } catch (error) {
        throw lostCall(error, call, signal);
      }
      throw new PlatformError(call.visible === true ? 'unknown_outcome' : 'unavailable', `${call.what}: the answer is not one of Matrix`);
    },
  };
};
