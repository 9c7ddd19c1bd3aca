import type { IncomingMessage } from 'node:http';
import type { RawApi } from 'grammy';
import { PlatformError } from '../../core/errors.ts';
import { Refusal, toPlatformError } from './errors.ts';
import type { CallFacts } from './errors.ts';
import { apiRoot } from './options.ts';
import type { TelegramOptions } from './options.ts';
import { newTransport } from './transport.ts';
import type { Transport } from './transport.ts';
import { newUploadForm } from './upload-form.ts';
import type { AttachedFile } from './upload-form.ts';
import { integer, record } from './wire.ts';

type GrammySignal = NonNullable<Parameters<RawApi['getMe']>[0]>;

type Run<T> = (raw: RawApi, signal: GrammySignal) => Promise<T>;

/** Typed calls to the Bot API. Every failure is a `PlatformError`; nothing is tried twice. */
export interface TelegramApi {
  /** A call that may be made again without harm. */
  repeatable<T>(scope: CallFacts['scope'], signal: AbortSignal, run: Run<T>): Promise<T>;
  /** A call whose effect people see: a lost answer is `unknown_outcome`. The payload names its files by `attached`. */
  once<T>(signal: AbortSignal, run: Run<T>, files?: readonly AttachedFile[]): Promise<T>;
  /** A call that Telegram holds open for up to `poll_timeout_seconds`. */
  poll<T>(signal: AbortSignal, run: Run<T>): Promise<T>;
  /** The answer to asking for a file, with its body unread. */
  openFile(filePath: string, signal: AbortSignal): Promise<IncomingMessage>;
}

const visible: CallFacts = { once: true, scope: 'chat' };

const attempt = async <T>(facts: CallFacts, signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
  if (signal.aborted) throw new PlatformError('aborted', 'aborted');
  try {
    return await run();
  } catch (error) {
    throw toPlatformError(error, facts, signal);
  }
};

const json = { 'content-type': 'application/json' };

/**
 * Every method of the Bot API by its name, with grammY's types. Its code stays outside: it brings a `fetch`, an address parser and tables of its own,
 * 4 MB, for what is one POST.
 */
const methodsOver = (transport: Transport, address: string, files: readonly AttachedFile[]): RawApi => {
  const call = async (method: string, payload: object, signal: AbortSignal): Promise<unknown> => {
    const form = files.length === 0 ? { headers: json, body: JSON.stringify(payload) } : newUploadForm(payload, files);
    const answer = await transport.ask(`${address}/${method}`, { ...form, signal });
    if (answer['ok'] === true) return answer['result'];
    throw new Refusal(method, answer);
  };
  type Given = readonly [signal: AbortSignal] | readonly [payload: object, signal: AbortSignal];
  const methodCalled = (name: string) => (...given: Given) => (given.length === 1 ? call(name, {}, given[0]) : call(name, ...given));
  return new Proxy({} as RawApi, { get: (_methods, name) => methodCalled(String(name)) });
};

export const openApi = (options: TelegramOptions): TelegramApi => {
  const root = apiRoot(options);
  const address = `${root}/bot${options.token}`;
  const silenceMs = options.request_timeout_seconds * 1000;
  const transport = newTransport({ root, silenceMs, proxyUrl: options.proxy_url });
  const patient = newTransport({ root, silenceMs: silenceMs + options.poll_timeout_seconds * 1000, proxyUrl: options.proxy_url });
  const calls = methodsOver(transport, address, []);
  const polls = methodsOver(patient, address, []);

  const call = <T>(raw: RawApi, facts: CallFacts, signal: AbortSignal, run: Run<T>): Promise<T> => attempt(facts, signal, () => run(raw, signal as GrammySignal));

  return {
    repeatable: (scope, signal, run) => call(calls, { once: false, scope }, signal, run),
    once: (signal, run, files = []) => call(files.length === 0 ? calls : methodsOver(transport, address, files), visible, signal, run),
    poll: (signal, run) => call(polls, { once: false, scope: 'account' }, signal, run),
    openFile: (filePath, signal) => attempt({ once: false, scope: 'account' }, signal, () => transport.open(`${root}/file/bot${options.token}/${encodeURI(filePath)}`, { signal })),
  };
};

/** The id of a message that Telegram says it has sent. */
export const sentId = (message: unknown): string => {
  const id = integer(record(message)?.['message_id']);
  if (id === undefined) throw new PlatformError('unknown_outcome', 'Telegram answered without a message id');
  return String(id);
};
