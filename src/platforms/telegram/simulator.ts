import { systemClock } from '../../lib/clock.ts';
import type { PlatformSimulator, SimulatedMessage } from '../simulator.ts';
import recorded from './fixtures/recorded.json' with { type: 'json' };
import { newFaults } from '../simulator-faults.ts';
import type { SimulatorServer } from '../simulator-server.ts';
import { press, reactTo, rewrite, speak } from './simulator/people.ts';
import { Refusal } from './simulator/refusal.ts';
import { startServer } from './simulator/server.ts';
import type { CallRecord, ServerContext } from './simulator/server.ts';
import { historyLimit } from './simulator/updates.ts';
import { newWorld } from './simulator/world.ts';
import type { World } from './simulator/world.ts';
import type { Json } from './wire.ts';

export interface TelegramSimulatorOptions {
  readonly token?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** How the account in `options` receives. */
  readonly mode?: 'polling' | 'webhook';
  /** Whether the bot has topics in direct chats; it has by default. */
  readonly privateTopics?: boolean;
}

/** The Bot API over HTTP, with what Telegram alone has. */
export interface TelegramSimulator extends PlatformSimulator {
  readonly baseUrl: string;
  readonly token: string;
  readonly bot: { readonly id: number; readonly username: string };
  /** Calls in the order they came. */
  readonly log: readonly CallRecord[];
  /** Told about each call as it comes in, before it has an effect. */
  onCall(listener: (call: CallRecord) => void): void;
  /** Calls that Telegram's own description does not allow; a test wants none. */
  violations(): readonly string[];
  /** Puts any update into the queue; answers its id. */
  deliver(content: Json): number;
  /** A person changes a message; answers the update's id. */
  edit(chatId: string, messageId: string, text: string): number;
  react(reaction: { chatId: string; messageId: string; senderId: string; emoji: string; added: boolean }): number;
  /** Updates that nobody has confirmed. */
  pending(): number;
  /** Makes a group a forum. */
  makeForum(chatId: string): void;
  /** From now on every call about the chat is refused; `movedTo` says that it became a supergroup. */
  refuseChat(chatId: string, refusal: { status: number; description: string; movedTo?: number }): void;
  /** What the bot has put on any message, also a person's. */
  reactionsOn(chatId: string, messageId: string): readonly string[];
  topics(chatId: string): ReadonlyMap<number, string>;
  commands(): readonly unknown[];
  callbackAnswers(): readonly { readonly id: string; readonly text: string | undefined }[];
  /** Refuses connections until `goOnline`. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

const fixtures = Object.entries(recorded.updates).map(([name, payload]) => ({ name, payload }));

const places: PlatformSimulator['places'] = [
  { chatId: '4711', chatType: 'dm', senderId: '4711' },
  { chatId: '-1001234567890', chatType: 'group', senderId: '4711' },
  { chatId: '-1009876543210', chatType: 'channel', senderId: '-1009876543210' },
];

const defaultToken = '7000000001:simulated-token-AAAAAAAAAAAAAAAAAAAAAA';
const webhookSecret = 'simulated-webhook-secret';

const telegramControls = (context: ServerContext, server: SimulatorServer) => ({
  bot: context.world.bot,
  log: context.log,
  onCall(listener: (call: CallRecord) => void) {
    context.onCall = listener;
  },
  violations: () => context.violations,
  ...worldControls(context.world),
  goOffline: () => server.goOffline(),
  goOnline: () => server.goOnline(),
});

const worldControls = (world: World) => ({
  deliver: (content: Json) => world.updates.push(content).update_id,
  edit: (chatId: string, messageId: string, text: string) => world.updates.push(rewrite(world, chatId, messageId, text)).update_id,
  react: ({ emoji, added, ...where }: Parameters<TelegramSimulator['react']>[0]) => world.updates.push(reactTo(world, { ...where, data: emoji }, added)).update_id,
  pending: () => world.updates.pending().length,
  makeForum(chatId: string) {
    const chat = world.chats.get(chatId);
    chat.kind = 'supergroup';
    chat.isForum = true;
  },
  refuseChat(chatId: string, { status, description, movedTo }: Parameters<TelegramSimulator['refuseChat']>[1]) {
    world.chats.get(chatId).refusal = new Refusal(status, description, movedTo === undefined ? undefined : { migrate_to_chat_id: movedTo });
  },
  reactionsOn: (chatId: string, messageId: string) => world.chats.get(chatId).messages.get(Number(messageId))?.reaction ?? [],
  topics: (chatId: string) => world.chats.get(chatId).topics,
  commands: () => world.commands,
  callbackAnswers: () => world.callbackAnswers,
});

/** Only an account that receives by webhook is called, and has calls that can be forged. */
const webhookControls = ({ world }: ServerContext, mode: TelegramSimulatorOptions['mode']) =>
  mode === 'webhook' && {
    connect: (url: string) => void (world.webhook.reachableAt = url),
    webhook: (message: SimulatedMessage, signed: boolean) => ({
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': signed ? webhookSecret : 'wrong' },
      body: JSON.stringify({ update_id: 1, ...speak(world, message).content }),
    }),
  };

/** Starts Telegram for one bot on 127.0.0.1, for tests, benchmarks and the playground. */
export const startTelegramSimulator = async (wanted: TelegramSimulatorOptions = {}): Promise<TelegramSimulator> => {
  const { token = defaultToken, port = 0, mode = 'polling', privateTopics = true } = wanted;
  const world = newWorld(token, systemClock, privateTopics);
  const context: ServerContext = { token, world, faults: newFaults(), log: [], violations: [] };
  const server = await startServer(context, port);
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const webhook = mode === 'webhook' ? { webhook_url: 'https://gateway.test/webhooks/telegram', webhook_secret: webhookSecret } : {};
  const options = { token, base_url: baseUrl, poll_timeout_seconds: 30, reactions: true, ...webhook };
  const updateIds = new Map<string, number>();
  const publish = ({ nativeId, content }: { nativeId: string; content: Json }): string => {
    updateIds.set(nativeId, world.updates.push(content).update_id);
    if (updateIds.size > historyLimit) updateIds.delete(updateIds.keys().next().value ?? '');
    return nativeId;
  };
  return {
    ...telegramControls(context, server),
    ...webhookControls(context, mode),
    baseUrl,
    token,
    options,
    badOptions: { ...options, token: `${world.bot.id}:wrong-token-BBBBBBBBBBBBBBBBBBBBBBBBBB` },
    secrets: [token, ...(mode === 'webhook' ? [webhookSecret] : [])],
    fixtures,
    places,
    async replay(payload) {
      const { update_id: _recorded, ...content } = payload as Json;
      world.updates.push(content);
    },
    say: async (message) => publish(speak(world, message)),
    async redeliver(nativeId) {
      world.updates.again(updateIds.get(nativeId) ?? Number(nativeId));
    },
    async sendUnknownEvent() {
      world.updates.push({ hologram: { id: 1, note: 'of a kind that does not exist yet' } });
    },
    acknowledged: () => world.updates.acknowledged,
    visible: (chatId) => world.chats.visible(chatId),
    threadName: ({ chatId, threadId }) => world.chats.get(chatId).topics.get(Number(threadId)),
    typing: () => world.typing,
    press: async (chatId, messageId, data, senderId) => publish(press(world, { chatId, messageId, data, senderId })),
    fail(plan) {
      context.faults.plan(plan);
      if (plan.what === 'receive' || plan.what === 'any') world.updates.interrupt();
    },
    async [Symbol.asyncDispose]() {
      world.webhook.remove();
      await server[Symbol.asyncDispose]();
    },
  };
};
