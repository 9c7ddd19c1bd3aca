import { isNewer, parseJson, records, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { post, readBlocks, requireText } from './posting.ts';
import { Refusal } from './refusal.ts';
import { enter, kindOfMime, mimeOf, wireFile, wireMessage } from './world.ts';
import type { ChannelMessage, SimulatedChannel, SimulatedTeam, StoredFile, World } from './world.ts';

export interface Call {
  readonly world: World;
  readonly team: SimulatedTeam;
  readonly args: Readonly<Record<string, string>>;
  readonly root: string;
}

export type Method = (call: Call) => Json;

const teamChannels = ({ world, team }: Call): readonly SimulatedChannel[] => [...world.channels.values()].filter((channel) => channel.teamId === team.id);

/** The channel of a call, unless it refuses us. */
export const channelOf = (call: Call, name = 'channel'): SimulatedChannel => {
  const channel = call.world.channels.get(call.args[name] ?? '');
  if (channel === undefined || channel.teamId !== call.team.id) throw new Refusal('channel_not_found');
  if (channel.refusal !== undefined) throw new Refusal(channel.refusal);
  return channel;
};

const messageOf = (call: Call, channel: SimulatedChannel, name = 'ts'): ChannelMessage => {
  const message = channel.messages.get(call.args[name] ?? '');
  if (message === undefined || message.reader !== undefined) throw new Refusal('message_not_found');
  return message;
};

const ownMessage = (call: Call, channel: SimulatedChannel): ChannelMessage => {
  const message = messageOf(call, channel);
  if (message.user !== call.team.botUserId) throw new Refusal('cant_update_message');
  return message;
};

const update: Method = (call) => {
  const channel = channelOf(call);
  const message = ownMessage(call, channel);
  const blocks = call.args['blocks'] === undefined ? message.blocks : readBlocks(call.args['blocks']);
  const words = requireText(call.args, blocks);
  if (words.length > 4000) throw new Refusal('msg_too_long');
  Object.assign(message, { text: words, mrkdwn: true, blocks, edited: message.edited + 1, editedTs: call.world.nextTs() });
  return { channel: channel.id, ts: message.ts, text: message.text };
};

const remove: Method = (call) => {
  const channel = channelOf(call);
  const message = ownMessage(call, channel);
  channel.messages.delete(message.ts);
  return { channel: channel.id, ts: message.ts };
};

const history: Method = (call) => {
  const channel = channelOf(call);
  const found = [...channel.messages.values()].filter(({ threadTs, ts, reader, subtype }) => reader === undefined && (threadTs === undefined || threadTs === ts || subtype === 'thread_broadcast'));
  return page(call, channel, found.toReversed());
};

const replies: Method = (call) => {
  const channel = channelOf(call);
  const parent = channel.messages.get(call.args['ts'] ?? '');
  if (parent === undefined) throw new Refusal('thread_not_found');
  return page(call, channel, [parent, ...[...channel.messages.values()].filter(({ threadTs, reader }) => reader === undefined && threadTs === parent.ts)]);
};

const page = (call: Call, channel: SimulatedChannel, messages: readonly ChannelMessage[]): Json => {
  const { oldest = '0.0', latest, limit = '100', cursor = '0', include_all_metadata: all } = call.args;
  const parentTs = call.args['ts'];
  const wanted = messages.filter(({ ts }) => ts === parentTs || (isNewer(ts, oldest) && (latest === undefined || isNewer(latest, ts))));
  const [from, size] = [Number(cursor), Math.min(Number(limit), 999)];
  const shown = wanted.slice(from, from + size);
  const hasMore = from + size < wanted.length;
  return {
    messages: shown.map((message) => ({ ...wireMessage(call.world, channel, message, call.root), ...(all === 'true' && call.world.scopes.includes('metadata.message:read') && message.metadata !== undefined && { metadata: message.metadata }) })),
    has_more: hasMore,
    response_metadata: { next_cursor: hasMore ? String(from + size) : '' },
  };
};

const react =
  (added: boolean): Method =>
  (call) => {
    const { name = '', timestamp = '' } = call.args;
    const message = messageOf({ ...call, args: { ...call.args, ts: timestamp } }, channelOf(call));
    const users = message.reactions.get(name) ?? new Set<string>();
    if (users.has(call.team.botUserId) === added) throw new Refusal(added ? 'already_reacted' : 'no_reaction');
    if (added) message.reactions.set(name, users.add(call.team.botUserId));
    else {
      users.delete(call.team.botUserId);
      if (users.size === 0) message.reactions.delete(name);
    }
    return {};
  };

const getReactions: Method = (call) => {
  const channel = channelOf(call);
  const message = messageOf(call, channel, 'timestamp');
  return { type: 'message', channel: channel.id, message: wireMessage(call.world, channel, message, call.root) };
};

const fileOf = ({ world, team, args }: Call): StoredFile => {
  const file = world.files.get(args['file'] ?? '');
  if (file === undefined || file.teamId !== team.id) throw new Refusal('file_not_found');
  return file;
};

const uploadUrl: Method = ({ world, team, args, root }) => {
  const { filename = '', length = '' } = args;
  if (filename === '' || !(Number(length) > 0)) throw new Refusal('invalid_arguments');
  const file: StoredFile = { id: world.nextId('F'), teamId: team.id, name: filename, mime: mimeOf(filename), kind: kindOfMime(mimeOf(filename)), bytes: new Uint8Array(), shares: [] };
  world.files.set(file.id, file);
  return { upload_url: `${root}/upload/v1/${file.id}`, file_id: file.id };
};

const completeUpload: Method = (call) => {
  const files = records(parseJson(call.args['files'] ?? '')).map((given) => fileOf({ ...call, args: { file: text(given['id']) ?? '' } }));
  if (files.length === 0 || files.some((file) => file.bytes.byteLength === 0)) throw new Refusal('file_not_found');
  const channel = channelOf(call, 'channel_id');
  const message = post(call, channel, { text: call.args['initial_comment'] ?? '', files, ...(call.args['thread_ts'] !== undefined && { threadTs: call.args['thread_ts'] }) });
  for (const file of files) file.shares.push({ channel: channel.id, ts: message.ts });
  // Slack does not tell the message that shows the files.
  return { files: files.map(({ id, name }) => ({ id, title: name })) };
};

const userInfo: Method = ({ world, args }) => {
  const name = world.people.get(args['user'] ?? '');
  if (name === undefined) throw new Refusal('user_not_found');
  return { user: { id: args['user'], name: name.toLowerCase(), real_name: name, deleted: false, is_bot: false, profile: { real_name: name, display_name: name } } };
};

const users: Method = ({ world }) => ({
  members: [...world.people].map(([id, name]) => ({ id, name: name.toLowerCase().replaceAll(' ', '.'), deleted: false, profile: { display_name: name } })),
  response_metadata: { next_cursor: '' },
});

const openConversation: Method = ({ world, team, args }) => {
  const user = args['users'] ?? '';
  if (!world.people.has(user)) throw new Refusal('user_not_found');
  const known = [...world.channels.values()].find((channel) => channel.teamId === team.id && channel.user === user);
  return { channel: { id: (known ?? enter(world, world.nextId('D'), team.id, user)).id } };
};

const conversationInfo: Method = (call) => {
  const { id, name, kind, user } = channelOf(call);
  return { channel: { id, ...(kind === 'im' ? { user, is_im: true } : { name, is_channel: kind === 'channel', is_mpim: kind === 'mpim' }) } };
};

const pageOfTwo = 2;

/** In small pages, so that whoever lists has to go on. */
const conversations: Method = (call) => {
  const types = (call.args['types'] ?? 'public_channel').split(',');
  const names = { im: 'im', mpim: 'mpim', channel: 'public_channel', group: 'private_channel' } as const;
  const found = teamChannels(call).filter(({ kind }) => types.includes(names[kind]));
  const from = Number(call.args['cursor'] ?? 0);
  const channels = found.slice(from, from + pageOfTwo).map(({ id, name, kind, user }) => (kind === 'im' ? { id, user } : { id, name, is_member: true }));
  return { channels, response_metadata: { next_cursor: from + pageOfTwo < found.length ? String(from + pageOfTwo) : '' } };
};

const setStatus: Method = (call) => {
  const channel = channelOf(call, 'channel_id');
  if (call.args['thread_ts'] === undefined) throw new Refusal('invalid_arguments');
  call.world.typing.push(channel.id);
  return {};
};

const postMessage: Method = (call) => {
  const channel = channelOf(call);
  if (channel.retryAfterMs !== undefined) throw new Refusal('ratelimited', {}, channel.retryAfterMs);
  const blocks = readBlocks(call.args['blocks']);
  const { thread_ts: threadTs, mrkdwn, metadata } = call.args;
  const broadcast = threadTs !== undefined && call.args['reply_broadcast'] === 'true';
  const message = post(call, channel, {
    text: requireText(call.args, blocks),
    blocks,
    mrkdwn: mrkdwn !== 'false',
    ...(threadTs !== undefined && { threadTs }),
    ...(metadata !== undefined && { metadata: parseJson(metadata) }),
    ...(broadcast && { subtype: 'thread_broadcast' }),
  });
  return { channel: channel.id, ts: message.ts, message: wireMessage(call.world, channel, message, call.root) };
};

const postEphemeral: Method = (call) => {
  const channel = channelOf(call);
  const reader = call.args['user'] ?? '';
  if (!call.world.people.has(reader)) throw new Refusal('user_not_in_channel');
  const blocks = readBlocks(call.args['blocks']);
  return { message_ts: post(call, channel, { text: requireText(call.args, blocks), blocks, reader }).ts };
};

const deleteFile: Method = (call) => {
  const file = fileOf(call);
  call.world.files.delete(file.id);
  for (const { channel, ts } of file.shares) call.world.channels.get(channel)?.messages.delete(ts);
  return {};
};

interface Described {
  readonly run: Method;
  readonly needs: readonly string[];
  readonly takes: readonly string[];
}

const paging = ['cursor', 'limit'];
const words = ['text', 'blocks', 'thread_ts', 'mrkdwn', 'metadata', 'parse', 'link_names', 'attachments', 'unfurl_links', 'unfurl_media', 'reply_broadcast'];

/** Every method with the arguments that Slack knows: https://docs.slack.dev/reference/methods. */
export const methods: Readonly<Record<string, Described>> = {
  'auth.test': { run: ({ team }) => ({ url: `https://${team.name.toLowerCase()}.slack.com/`, team: team.name, user: 'hermes', team_id: team.id, user_id: team.botUserId, bot_id: team.botId, is_enterprise_install: false }), needs: [], takes: [] },
  'chat.postMessage': { run: postMessage, needs: ['channel'], takes: words },
  'chat.postEphemeral': { run: postEphemeral, needs: ['channel', 'user'], takes: words },
  'chat.update': { run: update, needs: ['channel', 'ts'], takes: ['text', 'blocks', 'metadata', 'parse', 'link_names', 'attachments', 'reply_broadcast'] },
  'chat.delete': { run: remove, needs: ['channel', 'ts'], takes: [] },
  'conversations.history': { run: history, needs: ['channel'], takes: [...paging, 'oldest', 'latest', 'inclusive', 'include_all_metadata'] },
  'conversations.replies': { run: replies, needs: ['channel', 'ts'], takes: [...paging, 'oldest', 'latest', 'inclusive', 'include_all_metadata'] },
  'conversations.info': { run: conversationInfo, needs: ['channel'], takes: [] },
  'conversations.open': { run: openConversation, needs: ['users'], takes: [] },
  'conversations.list': { run: conversations, needs: [], takes: [...paging, 'types', 'exclude_archived'] },
  'users.conversations': { run: conversations, needs: [], takes: [...paging, 'types', 'exclude_archived', 'user'] },
  'users.info': { run: userInfo, needs: ['user'], takes: [] },
  'users.list': { run: users, needs: [], takes: paging },
  'reactions.add': { run: react(true), needs: ['channel', 'timestamp', 'name'], takes: [] },
  'reactions.remove': { run: react(false), needs: ['channel', 'timestamp', 'name'], takes: [] },
  'reactions.get': { run: getReactions, needs: ['channel', 'timestamp'], takes: ['full'] },
  'files.getUploadURLExternal': { run: uploadUrl, needs: ['filename', 'length'], takes: ['alt_txt', 'snippet_type'] },
  'files.completeUploadExternal': { run: completeUpload, needs: ['files', 'channel_id'], takes: ['thread_ts', 'initial_comment', 'blocks'] },
  'files.info': { run: (call) => ({ file: wireFile(call.world, fileOf(call), call.root) }), needs: ['file'], takes: [] },
  'files.delete': { run: deleteFile, needs: ['file'], takes: [] },
  'assistant.threads.setStatus': { run: setStatus, needs: ['channel_id', 'thread_ts', 'status'], takes: ['loading_messages'] },
};

/** What is wrong with a call by Slack's own description of it. */
export const problemsOf = (method: string, args: Readonly<Record<string, string>>): readonly string[] => {
  const described = methods[method];
  if (described === undefined) return [`${method} does not exist or is not simulated`];
  const missing = described.needs.filter((name) => args[name] === undefined).map((name) => `${method}.${name} is missing`);
  const unknown = Object.keys(args).filter((name) => name !== 'token' && !described.needs.includes(name) && !described.takes.includes(name)).map((name) => `${method}.${name} does not exist`);
  return [...missing, ...unknown];
};

