import { PlatformError } from 'hermes-gateway/platform';
import type { OutboundMessage, SendReceipt } from 'hermes-gateway/platform';
import { lineThat } from './api.ts';
import type { Connection } from './api.ts';
import { formatIrc, linesOf } from './format.ts';
import { fold } from './wire.ts';
import type { Line } from './wire.ts';

/** https://modern.ircdocs.horse/#numerics */
const failureOf = (line: Line): PlatformError | undefined => {
  const words = line.params.at(-1)?.slice(0, 200) ?? '';
  const seconds = Number(/(\d+) ?s/.exec(words)?.[1] ?? 10);
  switch (line.command) {
    case '401':
    case '403':
    case '406':
      return new PlatformError('chat_gone', words);
    case '404':
    case '442':
    case '477':
    case '486':
    case '489':
      return new PlatformError('forbidden', words);
    case '263':
    case '439':
      return new PlatformError('rate_limited', words, { retryAfterMs: seconds * 1000, scope: 'account' });
    case '417':
      return new PlatformError('too_long', words);
    case '400':
    case '407':
    case '411':
    case '412':
    case '413':
    case '531':
      return new PlatformError('rejected', words);
    default:
      return undefined;
  }
};

interface Sending {
  readonly connection: Connection;
  readonly target: string;
  readonly text: string;
  /** Names this line among those under way. */
  readonly label: string;
  readonly replyTo: string | undefined;
}

/** Where the server can say which answer belongs to which line, it does; otherwise it has taken the line once it answers a question that was asked behind it. */
const sendLine = async ({ connection, target, text, label, replyTo }: Sending, signal: AbortSignal): Promise<string> => {
  const { capabilities } = connection;
  const labels = ['message-tags', 'echo-message', 'labeled-response', 'batch'].every((name) => capabilities.has(name));
  const taken = lineThat(connection, signal, (line) => {
    const isAbout = labels ? line.tags.get('label') === label : fold(line.params[1] ?? '') === fold(target);
    const failure = isAbout ? failureOf(line) : undefined;
    if (failure !== undefined) throw failure;
    if (labels) return line.tags.get('label') === label ? (line.tags.get('msgid') ?? label) : undefined;
    return line.command === 'PONG' && line.params.at(-1) === label ? label : undefined;
  });
  const reply = replyTo !== undefined && capabilities.has('message-tags') ? { '+draft/reply': replyTo } : {};
  connection.write('PRIVMSG', [target, text], { ...(labels && { label }), ...reply });
  if (!labels) connection.write('PING', [label]);
  try {
    return await taken;
  } catch (error) {
    // It left, and nobody knows what became of it.
    if (error instanceof PlatformError && (error.code === 'unavailable' || error.code === 'aborted')) throw new PlatformError('unknown_outcome', 'the server did not say that it has it', { cause: error });
    throw error;
  }
};

export interface SendParts {
  connection(): Connection | undefined;
  pace(lines: number): number;
  sent(id: string): void;
}

let labels = 0;

export const newSend =
  (parts: SendParts) =>
  async ({ target, text, plain }: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
    if (signal.aborted) throw new PlatformError('aborted', 'stopped before it was sent', { cause: signal.reason });
    const connection = parts.connection();
    if (connection === undefined || !connection.isOpen) throw new PlatformError('unavailable', 'there is no connection to the server');
    if (!/^[^\s:,]+$/.test(target.chatId)) throw new PlatformError('chat_gone', 'this is neither a channel nor a nick');
    const lines = linesOf(formatIrc(text, plain));
    if (lines.length === 0) throw new PlatformError('rejected', 'there is nothing to say');
    const waitMs = parts.pace(lines.length);
    if (waitMs > 0) throw new PlatformError('rate_limited', 'more would be a flood', { retryAfterMs: waitMs, scope: 'account' });
    const messageIds: string[] = [];
    for (const line of lines) {
      const sending = { connection, target: target.chatId, text: line, label: `h${(labels += 1)}`, replyTo: messageIds.length === 0 ? target.replyTo : undefined };
      const id = await sendLine(sending, signal).catch((error: unknown) => {
        // To send all of it again would show its beginning twice.
        throw messageIds.length === 0 ? error : new PlatformError('unknown_outcome', 'only a part of it was taken', { cause: error });
      });
      parts.sent(id);
      messageIds.push(id);
    }
    return { messageIds };
  };
