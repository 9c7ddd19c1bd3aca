import type { FaultPlan } from '../../simulator.ts';
import { channelTypes, isNewer, isThreadType, list, record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import type { SimulatedGateway } from './gateway.ts';
import { printChannel, printMessage, tellMessage } from './printing.ts';
import type { Printer } from './printing.ts';
import { Refusal } from './refusal.ts';
import type { CallBody } from './request-body.ts';
import { isInGuild, memberOf, person } from './world.ts';
import type { Channel, StoredMessage, World } from './world.ts';
import { findMessage, openThread, rewriteMessage, writeMessage } from './writing.ts';

export interface RouteCall {
  readonly world: World;
  readonly gateway: SimulatedGateway;
  readonly printer: Printer;
  readonly socketUrl: string;
  readonly body: CallBody;
  readonly query: URLSearchParams;
  readonly params: readonly string[];
}

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly what?: FaultPlan['what'];
  /** The address is the credential. */
  readonly open?: true;
  /** Undefined is an empty answer. */
  run(call: RouteCall): unknown;
}

const channelAt = ({ world, params }: RouteCall): Channel => world.channel(params[0] ?? '');

const messageAt = (call: RouteCall): { channel: Channel; message: StoredMessage } => {
  const channel = channelAt(call);
  return { channel, message: findMessage(channel, call.params[1] ?? '') };
};

const tellChannel = ({ gateway, world }: RouteCall, name: string, channel: Channel, more: Json = {}): void => gateway.dispatch(name, { ...printChannel(world, channel), ...more });

const send = (call: RouteCall): unknown => {
  const channel = channelAt(call);
  const { message, isNew } = writeMessage(call.world, channel, { fields: call.body.fields, body: call.body });
  if (isNew) call.gateway.dispatch('MESSAGE_CREATE', tellMessage(call.printer, channel, message));
  return printMessage(call.printer, channel, message);
};

const history = ({ printer, query, ...call }: RouteCall): unknown => {
  const channel = channelAt({ printer, query, ...call });
  const limit = Number(query.get('limit') ?? 50);
  const [after, before] = [query.get('after'), query.get('before')];
  const all = [...channel.messages.values()].filter(({ id, ephemeral }) => ephemeral !== true && (before === null || isNewer(before, id)));
  const page = after === null ? all.slice(-limit) : all.filter(({ id }) => isNewer(id, after)).slice(0, limit);
  return page.toReversed().map((message) => printMessage(printer, channel, message));
};

const react = (call: RouteCall, added: boolean): undefined => {
  const { message } = messageAt(call);
  const emoji = decodeURIComponent(call.params[2] ?? '');
  if (!/\p{Extended_Pictographic}|\w+:\d+/u.test(emoji)) throw new Refusal(400, 10014, 'Unknown Emoji');
  const users = message.reactions.get(emoji) ?? new Set();
  message.reactions.set(emoji, users);
  if (added) users.add(call.world.bot.id);
  else users.delete(call.world.bot.id);
  if (users.size === 0) message.reactions.delete(emoji);
};

const interactionAt = ({ world, params }: RouteCall) => world.interactions.get(params[1] ?? '');

/** The first answer to an interaction. */
const callBack = (call: RouteCall): undefined => {
  const interaction = interactionAt(call);
  if (interaction === undefined || interaction.id !== call.params[0]) throw new Refusal(404, 10062, 'Unknown interaction');
  if (interaction.answered !== undefined) throw new Refusal(400, 40060, 'Interaction has already been acknowledged.');
  const data = record(call.body.fields['data']);
  interaction.answered = Number(call.body.fields['type']);
  interaction.text = text(data?.['content']);
  if (interaction.answered === 4 || interaction.answered === 5) {
    const { world } = call;
    const ephemeral = (Number(data?.['flags'] ?? 0) & 64) !== 0;
    const message: StoredMessage = { id: world.nextId(), author: world.bot, atMs: world.clock.now(), type: 20, content: interaction.text ?? '', files: [], components: [], flags: 0, editedAt: null, edited: 0, reactions: new Map(), ephemeral: ephemeral || interaction.answered === 5 };
    interaction.original = message;
    world.channel(interaction.channelId).messages.set(message.id, message);
  }
};

/** Takes the place of "is thinking". */
const editOriginal = (call: RouteCall): unknown => {
  const interaction = interactionAt(call);
  if (interaction?.original === undefined) throw new Refusal(404, interaction === undefined ? 10015 : 10008, 'Unknown Webhook');
  const channel = call.world.channel(interaction.channelId);
  const message = { ...interaction.original, ephemeral: false };
  rewriteMessage(call.world, message, { fields: call.body.fields, body: call.body });
  interaction.original = message;
  channel.messages.set(message.id, message);
  return printMessage(call.printer, channel, message);
};

const startThread = (call: RouteCall, below?: StoredMessage): unknown => {
  const above = channelAt(call);
  const thread = openThread(call.world, above, { draft: { fields: call.body.fields, body: call.body }, ...(below !== undefined && { below }) });
  tellChannel(call, 'THREAD_CREATE', thread, { newly_created: true });
  return printChannel(call.world, thread);
};

const rename = (call: RouteCall): unknown => {
  const channel = channelAt(call);
  const name = text(call.body.fields['name']) ?? '';
  if (name === '' || name.length > 100) throw new Refusal(400, 50035, 'Invalid Form Body');
  channel.name = name;
  tellChannel(call, isThreadType(channel.type) ? 'THREAD_UPDATE' : 'CHANNEL_UPDATE', channel);
  return printChannel(call.world, channel);
};

const guildChannels = (world: World, threads: boolean): readonly Json[] => [...world.channels.values()].filter((channel) => isInGuild(channel) && isThreadType(channel.type) === threads).map((channel) => printChannel(world, channel));

/** The part of Discord's API that bots of our kind use. */
export const routes: readonly Route[] = [
  { method: 'GET', path: /^\/users\/@me$/, what: 'identify', run: ({ world }) => world.bot },
  { method: 'GET', path: /^\/gateway\/bot$/, what: 'receive', run: ({ socketUrl, gateway }) => ({ url: socketUrl, shards: gateway.shards, session_start_limit: { total: 1000, remaining: gateway.startsLeft, reset_after: 14_400_000, max_concurrency: gateway.maxConcurrency } }) },
  { method: 'GET', path: /^\/applications\/@me$/, run: ({ world }) => ({ id: world.applicationId, name: 'Hermes', description: '', bot_public: false, flags: 1 << 19 }) },
  { method: 'GET', path: /^\/applications\/(\d+)\/commands$/, run: ({ world }) => world.commands },
  {
    method: 'PUT',
    path: /^\/applications\/(\d+)\/commands$/,
    run: ({ world, body }) => (world.commands = list(body.json).map((command) => ({ ...record(command), id: world.nextId(), application_id: world.applicationId, version: '1' }))),
  },
  { method: 'GET', path: /^\/users\/@me\/guilds$/, run: ({ world }) => [{ id: world.guildId, name: 'Workshop', icon: null, owner: false, permissions: '0', features: [] }] },
  { method: 'GET', path: /^\/guilds\/\d+\/channels$/, run: ({ world }) => guildChannels(world, false) },
  { method: 'GET', path: /^\/guilds\/\d+\/threads\/active$/, run: ({ world }) => ({ threads: guildChannels(world, true), members: [] }) },
  { method: 'GET', path: /^\/guilds\/\d+\/members\/(\d+)$/, run: ({ world, params: [id = ''] }) => ({ ...memberOf(world, id), user: id === world.bot.id ? world.bot : person(id) }) },
  { method: 'GET', path: /^\/channels\/(\d+)$/, run: (call) => printChannel(call.world, channelAt(call)) },
  { method: 'PATCH', path: /^\/channels\/(\d+)$/, what: 'edit', run: rename },
  {
    method: 'GET',
    path: /^\/channels\/(\d+)\/thread-members\/@me$/,
    run(call) {
      const channel = channelAt(call);
      if (!channel.joined) throw new Refusal(404, 10007, 'Unknown Member');
      return { id: channel.id, user_id: call.world.bot.id, join_timestamp: new Date(0).toISOString(), flags: 0 };
    },
  },
  { method: 'POST', path: /^\/channels\/(\d+)\/messages$/, what: 'send', run: send },
  { method: 'GET', path: /^\/channels\/(\d+)\/messages$/, what: 'receive', run: history },
  {
    method: 'GET',
    path: /^\/channels\/(\d+)\/messages\/(\d+)$/,
    run(call) {
      const { channel, message } = messageAt(call);
      return printMessage(call.printer, channel, message);
    },
  },
  {
    method: 'PATCH',
    path: /^\/channels\/(\d+)\/messages\/(\d+)$/,
    what: 'edit',
    run(call) {
      const { channel, message } = messageAt(call);
      rewriteMessage(call.world, message, { fields: call.body.fields, body: call.body });
      call.gateway.dispatch('MESSAGE_UPDATE', tellMessage(call.printer, channel, message));
      return printMessage(call.printer, channel, message);
    },
  },
  {
    method: 'DELETE',
    path: /^\/channels\/(\d+)\/messages\/(\d+)$/,
    what: 'edit',
    run(call) {
      const { channel, message } = messageAt(call);
      channel.messages.delete(message.id);
    },
  },
  { method: 'POST', path: /^\/channels\/(\d+)\/typing$/, what: 'typing', run: (call) => void call.world.typing.push(channelAt(call).id) },
  { method: 'PUT', path: /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/, run: (call) => react(call, true) },
  { method: 'DELETE', path: /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/, run: (call) => react(call, false) },
  { method: 'POST', path: /^\/channels\/(\d+)\/threads$/, what: 'send', run: (call) => startThread(call) },
  { method: 'POST', path: /^\/channels\/(\d+)\/messages\/(\d+)\/threads$/, run: (call) => startThread(call, messageAt(call).message) },
  { method: 'POST', path: /^\/interactions\/(\d+)\/([^/]+)\/callback$/, open: true, run: callBack },
  { method: 'PATCH', path: /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/, what: 'send', open: true, run: editOriginal },
  {
    method: 'DELETE',
    path: /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/,
    open: true,
    run(call) {
      const interaction = interactionAt(call);
      if (interaction?.original === undefined) throw new Refusal(404, 10008, 'Unknown Message');
      call.world.channel(interaction.channelId).messages.delete(interaction.original.id);
      interaction.original = undefined;
    },
  },
  { method: 'POST', path: /^\/users\/@me\/channels$/, run: ({ world, body }) => printChannel(world, [...world.channels.values()].find((channel) => channel.type === channelTypes.dm && channel.recipient === body.fields['recipient_id']) ?? world.channel('')) },
];
