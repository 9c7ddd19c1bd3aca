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
  download(filePath: string, signal: AbortSignal): Promise<{ readonly status: number; readonly sizeBytes: number | undefined; readonly body: AsyncIterable<Uint8Array> }>;
  readonly InputFile: typeof InputFileClass;
}

const visible: CallFacts = { once: true, scope: 'chat' };

/** grammY is loaded here and not before, so that a gateway without Telegram does not pay for it. */
export const openApi = async (options: TelegramOptions): Promise<TelegramApi> => {
  const grammy = await import('grammy');
  const root = apiRoot(options);
  const transport = newTransport(root, options.request_timeout_seconds * 1000);
  const patient = newTransport(root, (options.poll_timeout_seconds + options.request_timeout_seconds) * 1000);
  const calls = new grammy.Api(options.token, { apiRoot: root, fetch: transport.fetch });
  const polls = new grammy.Api(options.token, { apiRoot: root, fetch: patient.fetch });

  const call = async <T>(api: Api, facts: CallFacts, signal: AbortSignal, run: Run<T>): Promise<T> => {
    signalAborted(signal);
    try {
      return await run(api.raw, signal as GrammySignal);
    } catch (error) {
      throw toPlatformError(error, facts, signal);
    }
  };

  return {
    InputFile: grammy.InputFile,
    repeatable: (scope, signal, run) => call(calls, { once: false, scope }, signal, run),
    once: (signal, run) => call(calls, visible, signal, run),
    poll: (signal, run) => call(polls, { once: false, scope: 'account' }, signal, run),
    async download(filePath, signal) {
      signalAborted(signal);
      try {
        const response = await transport.open(`${root}/file/bot${options.token}/${encodeURI(filePath)}`, { signal });
        const length = Number(response.headers['content-length']);
        return { status: response.statusCode ?? 0, sizeBytes: Number.isFinite(length) ? length : undefined, body: response };
      } catch (error) {
        throw toPlatformError(error, { once: false, scope: 'account' }, signal);
      }
    },
  };
};

const signalAborted = (signal: AbortSignal): void => {
  if (signal.aborted) throw new PlatformError('aborted', 'aborted');
};

/** The id of a message that Telegram says it has sent. */
export const sentId = (message: unknown): string => {
  const id = integer(record(message)?.['message_id']);
  if (id === undefined) throw new PlatformError('unknown_outcome', 'Telegram answered without a message id');
  return String(id);
};
