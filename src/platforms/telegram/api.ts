import type { IncomingMessage } from 'node:http';
import type { Api, InputFile as InputFileClass, RawApi } from 'grammy';
import { PlatformError } from '../../core/errors.ts';
import { toPlatformError } from './errors.ts';
import type { CallFacts } from './errors.ts';
import { apiRoot } from './options.ts';
import type { TelegramOptions } from './options.ts';
import { newTransport } from './transport.ts';
import { integer, record } from './wire.ts';

type GrammySignal = NonNullable<Parameters<RawApi['getMe']>[0]>;

type Run<T> = (raw: RawApi, signal: GrammySignal) => Promise<T>;

/** Typed calls to the Bot API. Every failure is a `PlatformError`; nothing is tried twice. */
export interface TelegramApi {
  /** A call that may be made again without harm. */
  repeatable<T>(scope: CallFacts['scope'], signal: AbortSignal, run: Run<T>): Promise<T>;
  /** A call whose effect people see: a lost answer is `unknown_outcome`. */
  once<T>(signal: AbortSignal, run: Run<T>): Promise<T>;
  /** A call that Telegram holds open for up to `poll_timeout_seconds`. */
  poll<T>(signal: AbortSignal, run: Run<T>): Promise<T>;
  /** The answer to asking for a file, with its body unread. */
  openFile(filePath: string, signal: AbortSignal): Promise<IncomingMessage>;
  readonly InputFile: typeof InputFileClass;
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

/** grammY is loaded here and not before, so that a gateway without Telegram does not pay for it. */
export const openApi = async (options: TelegramOptions): Promise<TelegramApi> => {
  const grammy = await import('grammy');
  const root = apiRoot(options);
  const silenceMs = options.request_timeout_seconds * 1000;
  const transport = newTransport({ root, silenceMs, proxyUrl: options.proxy_url });
  const patient = newTransport({ root, silenceMs: silenceMs + options.poll_timeout_seconds * 1000, proxyUrl: options.proxy_url });
  const calls = new grammy.Api(options.token, { apiRoot: root, fetch: transport.fetch });
  const polls = new grammy.Api(options.token, { apiRoot: root, fetch: patient.fetch });

  const call = <T>(api: Api, facts: CallFacts, signal: AbortSignal, run: Run<T>): Promise<T> => attempt(facts, signal, () => run(api.raw, signal as GrammySignal));

  return {
    InputFile: grammy.InputFile,
    repeatable: (scope, signal, run) => call(calls, { once: false, scope }, signal, run),
    once: (signal, run) => call(calls, visible, signal, run),
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
