import { fileNameHeader, fileTypeHeader } from '../../src/platforms/web/wire.ts';
import type { DeviceChecksAnswer, InviteAnswer, PeopleAnswer } from '../../src/http/people-wire.ts';
import type { ChatsAnswer, MessageBody, MessagesAnswer, PressBody, WireFile } from '../../src/platforms/web/wire.ts';

/** A request that was refused, or that never arrived when `status` is 0. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }

  /** The same request may succeed later. */
  get passing(): boolean {
    return this.status === 0 || this.status === 401 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const base = '/api/web';

const sentenceOf = (body: string): string => {
  try {
    const { error } = JSON.parse(body) as { error?: string };
    return error ?? 'The gateway refused this.';
  } catch (problem) {
    if (problem instanceof SyntaxError) return 'The gateway refused this.';
    throw problem;
  }
};

const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const init: RequestInit = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(path, init).catch((error: unknown) => {
    throw new ApiError(0, error instanceof Error ? error.message : 'The gateway cannot be reached.');
  });
  const text = await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, sentenceOf(text));
  return JSON.parse(text) as T;
};

export interface Session {
  readonly loggedIn: boolean;
  readonly takesToken: boolean;
}

export const getSession = (): Promise<Session> => call('GET', '/api/session');
export const logIn = (token: string): Promise<unknown> => call('POST', '/api/login', { token });
export const logOut = (): Promise<unknown> => call('POST', '/api/logout', {});
export const getChats = (): Promise<ChatsAnswer> => call('GET', `${base}/chats`);
export const getMessages = (chat: string, before?: number): Promise<MessagesAnswer> =>
  call('GET', `${base}/chats/${encodeURIComponent(chat)}/messages${before === undefined ? '' : `?before=${before}`}`);
export const postMessage = (chat: string, body: MessageBody): Promise<unknown> => call('POST', `${base}/chats/${encodeURIComponent(chat)}/messages`, body);
export const postPress = (chat: string, body: PressBody): Promise<unknown> => call('POST', `${base}/chats/${encodeURIComponent(chat)}/presses`, body);
export const hideChat = (chat: string): Promise<unknown> => call('DELETE', `${base}/chats/${encodeURIComponent(chat)}`);
export const getPeople = (): Promise<PeopleAnswer> => call('GET', '/api/people');
export const approvePerson = (id: string): Promise<PeopleAnswer> => call('POST', '/api/people/approve', { id });
export const dismissPerson = (id: string): Promise<PeopleAnswer> => call('POST', '/api/people/dismiss', { id });
export const revokePerson = (account: string, userId: string): Promise<PeopleAnswer> => call('POST', '/api/people/revoke', { account, userId });
export const invitePerson = (): Promise<InviteAnswer> => call('POST', '/api/people/invite', {});
export const getDeviceChecks = (): Promise<DeviceChecksAnswer> => call('GET', '/api/device-checks');
export const answerDeviceCheck = (account: string, id: string, same: boolean): Promise<DeviceChecksAnswer> => call('POST', '/api/device-checks/answer', { account, id, same });
export const eventsPath = (after: number): string => `${base}/events?after=${after}`;
export const filePath = (id: string): string => `${base}/files/${encodeURIComponent(id)}`;

/** Sends a file, telling how much of it (0 to 1) has left. `fetch` cannot report that. */
export const uploadFile = (file: File, options: { readonly onProgress: (part: number) => void; readonly signal: AbortSignal }): Promise<WireFile> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${base}/files`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader(fileNameHeader, encodeURIComponent(file.name));
    request.setRequestHeader(fileTypeHeader, file.type);
    request.upload.onprogress = (event) => options.onProgress(event.total === 0 ? 0 : event.loaded / event.total);
    request.onload = () => (request.status === 200 ? resolve(JSON.parse(request.responseText) as WireFile) : reject(new ApiError(request.status, sentenceOf(request.responseText))));
    request.onerror = () => reject(new ApiError(0, 'The file could not be sent.'));
    request.onabort = () => reject(new ApiError(0, 'Cancelled.'));
    options.signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });

/** Random, also where the page is not served securely and `crypto.randomUUID` is missing. */
export const newClientId = (): string => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
