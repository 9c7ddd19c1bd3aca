import { startTelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import { startModelServer } from '../model-server.ts';
import type { ModelServer } from '../model-server.ts';
import { newModel } from './model.ts';
import type { ToolToCall } from './model.ts';
import { accounts } from './places.ts';
import type { Account, Place } from './places.ts';
import type { Random } from './random.ts';
import { readShown } from './words.ts';
import type { ShownText } from './words.ts';

/** Something a person wrote, and the number the platform gave it. */
export interface Said {
  readonly id: string;
  readonly place: Place;
  readonly n: number;
  readonly nativeId: string;
  readonly isCommand: boolean;
}

/** A call that shows something in a chat. `answer.status` is 0 when the platform did not answer it. */
export interface ShowingCall {
  readonly account: Account;
  readonly chatId: string;
  readonly shown: ShownText;
  readonly atMs: number;
  readonly answer: { readonly status: number };
}

/** Everything that outlives the gateway: two Telegrams, a model, the people, and a record of what happened. */
export interface World extends AsyncDisposable {
  readonly telegrams: Readonly<Record<Account, TelegramSimulator>>;
  readonly model: ModelServer;
  readonly places: readonly Place[];
  readonly said: Said[];
  readonly calls: ShowingCall[];
  readonly kills: { readonly atMs: number; readonly signal: NodeJS.Signals }[];
  /** Resolves when an answer to the message was on its way into a chat. */
  answered(id: string): Promise<void>;
}

const listenTo = (telegram: TelegramSimulator, account: Account, heard: (call: ShowingCall) => void): void =>
  telegram.onCall((record) => {
    if (record.method !== 'sendMessage' && record.method !== 'editMessageText') return;
    const { params, atMs } = record;
    heard({ account, chatId: String(params['chat_id']), shown: readShown(String(params['text'])), atMs, answer: record });
  });

export const newWorld = async (places: readonly Place[], random: Random, tool?: ToolToCall): Promise<World> => {
  const names = Object.keys(accounts) as Account[];
  const started = await Promise.all(names.map(async (name, i) => [name, await startTelegramSimulator({ token: `700000000${i + 1}:simulated-token-${'A'.repeat(22)}` })] as const));
  const model = await startModelServer(newModel(random.fork('model'), tool));
  const calls: ShowingCall[] = [];
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  for (const [account, telegram] of started) {
    listenTo(telegram, account, (call) => {
      calls.push(call);
      if (call.shown.kind === 'answer') for (const id of call.shown.ids) waiting.get(id)?.resolve();
    });
  }
  return {
    telegrams: Object.fromEntries(started) as Record<Account, TelegramSimulator>,
    model,
    places,
    said: [],
    calls,
    kills: [],
    answered(id) {
      const known = waiting.get(id) ?? Promise.withResolvers<void>();
      waiting.set(id, known);
      return known.promise;
    },
    async [Symbol.asyncDispose]() {
      for (const [, telegram] of started) await telegram[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
};
