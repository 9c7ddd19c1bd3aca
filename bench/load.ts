import type { TelegramSimulator } from '../src/platforms/telegram/simulator.ts';

export interface Load {
  readonly chats: number;
  /** In each chat. */
  readonly messages: number;
  /** The number of the first chat; others than before are conversations without a past. */
  readonly firstChat?: number;
  /** The platform refuses calls, so that some are made again. */
  readonly refuses?: boolean;
}

export interface LoadResult {
  /** From the update to the `sendMessage` that answers it, in the order of the answers. */
  readonly latenciesMs: readonly number[];
  readonly elapsedMs: number;
}

const patienceMs = 60_000;
const usualChat = 1000;

interface Waiting {
  readonly text: string;
  readonly sinceMs: number;
  answered(ms: number): void;
}

let sent = 0;

/** An answer that takes its time is shown while it grows; only the whole one counts. */
const isPreview = (text: string): boolean => text.endsWith('▉');

/** People who each wait for the answer before they speak again. Rejects on a missing answer and on one that nobody asked for. */
export const talk = async (telegram: TelegramSimulator, load: Load): Promise<LoadResult> => {
  const waiting = new Map<string, Waiting>();
  const latenciesMs: number[] = [];
  const strays: string[] = [];
  telegram.onCall(({ method, params }) => {
    if (method !== 'sendMessage' && method !== 'editMessageText') return;
    const chatId = String(params['chat_id']);
    const text = String(params['text']);
    const open = waiting.get(chatId);
    if (open === undefined || text !== `re ${open.text}`) {
      if (!isPreview(text)) strays.push(`${chatId}: ${text}`);
      return;
    }
    waiting.delete(chatId);
    open.answered(performance.now() - open.sinceMs);
  });

  const say = (chatId: string): Promise<number> =>
    new Promise<number>((resolve, reject) => {
      sent += 1;
      const text = `hello number ${sent}`;
      const timer = setTimeout(() => reject(new Error(`${text} in chat ${chatId} was not answered within ${patienceMs} ms`)), patienceMs);
      // The answer is on its way into the chat; the person reads it and writes again.
      const answered = (ms: number): void => {
        clearTimeout(timer);
        setImmediate(resolve, ms);
      };
      waiting.set(chatId, { text, sinceMs: performance.now(), answered });
      telegram.say({ chatId, chatType: 'dm', senderId: chatId, text }).catch(reject);
    });

  const person = async (chatId: string): Promise<void> => {
    for (let n = 0; n < load.messages; n += 1) latenciesMs.push(await say(chatId));
  };

  const startedMs = performance.now();
  await Promise.all(Array.from({ length: load.chats }, (_, i) => person(String((load.firstChat ?? usualChat) + i))));
  const elapsedMs = performance.now() - startedMs;
  if (strays.length > 0 && load.refuses !== true) throw new Error(`${strays.length} messages that nobody waited for, the first in ${strays[0]}`);
  return { latenciesMs, elapsedMs };
};
