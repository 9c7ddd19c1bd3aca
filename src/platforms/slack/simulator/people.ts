import type { SimulatedMessage } from '../../simulator.ts';
import type { Json } from '../wire.ts';
import { enter, wireMessage } from './world.ts';
import type { ChannelMessage, SimulatedChannel, SimulatedTeam, StoredFile, World } from './world.ts';

/** Who somebody speaks to. */
export interface Scene {
  readonly world: World;
  readonly team: SimulatedTeam;
  /** Where files and answers can be reached. */
  readonly root: string;
}

const escape = (words: string): string => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Words as a person's client sends them; people are called as `<@U…>`. */
const typed = (words: string): string => escape(words).replaceAll(/&lt;(@[UW][A-Z0-9]+)&gt;/g, '<$1>');

export const eventOf = ({ world, team }: Scene, event: Json): Json => ({
  token: 'simulated',
  team_id: team.id,
  context_team_id: team.id,
  api_app_id: 'A00FAKEAPP01',
  event,
  type: 'event_callback',
  event_id: world.nextId('Ev'),
  event_time: Math.floor(world.clock.now() / 1000),
  authorizations: [{ enterprise_id: null, team_id: team.id, user_id: team.botUserId, is_bot: true, is_enterprise_install: false }],
  is_ext_shared_channel: false,
});

const addFile = ({ world, team }: Scene, media: NonNullable<SimulatedMessage['media']>): StoredFile => {
  const { kind, name, mime, bytes, durationMs } = media;
  const file: StoredFile = { id: world.nextId('F'), teamId: team.id, name, mime, kind, bytes, shares: [], ...(durationMs !== undefined && { durationMs }) };
  world.files.set(file.id, file);
  return file;
};

/** Puts a person's message into its channel. */
export const speak = (scene: Scene, said: SimulatedMessage): { readonly channel: SimulatedChannel; readonly message: ChannelMessage; readonly event: Json } => {
  const { world, team, root } = scene;
  if (said.own !== true) world.people.set(said.senderId, said.senderName ?? world.people.get(said.senderId) ?? `Person ${said.senderId.slice(-2)}`);
  const channel = enter(world, said.chatId, team.id, said.chatType === 'dm' ? said.senderId : undefined);
  const threadTs = said.threadId ?? said.replyTo;
  const message: ChannelMessage = {
    ts: world.nextTs(),
    user: said.own === true ? team.botUserId : said.senderId,
    ...(said.own === true && { botId: team.botId }),
    said: true,
    text: `${said.mention === true ? `<@${team.botUserId}> ` : ''}${typed(said.text)}`,
    mrkdwn: true,
    blocks: [],
    files: said.media === undefined ? [] : [addFile(scene, said.media)],
    edited: 0,
    reactions: new Map(),
    ...(said.media !== undefined && { subtype: 'file_share' }),
    ...(threadTs !== undefined && { threadTs }),
  };
  channel.messages.set(message.ts, message);
  return { channel, message, event: { ...wireMessage(world, channel, message, root), channel: channel.id, channel_type: channel.kind, event_ts: message.ts } };
};

const find = ({ world }: Scene, chatId: string, messageId: string): { channel: SimulatedChannel; message: ChannelMessage } => {
  const channel = world.channels.get(chatId);
  const message = channel?.messages.get(messageId);
  if (channel === undefined || message === undefined) throw new Error(`no message ${messageId} in ${chatId}`);
  return { channel, message };
};

/** A person changes a message of theirs; without words Slack only adds the preview of a link. */
export const rewrite = (scene: Scene, at: { readonly chatId: string; readonly messageId: string }, words: string | undefined): Json => {
  const { world, root } = scene;
  const { channel, message } = find(scene, at.chatId, at.messageId);
  const before = wireMessage(world, channel, message, root);
  const ts = world.nextTs();
  if (words !== undefined) Object.assign(message, { text: typed(words), edited: message.edited + 1, editedTs: ts });
  return { type: 'message', subtype: 'message_changed', hidden: true, channel: channel.id, channel_type: channel.kind, ts, event_ts: ts, message: wireMessage(world, channel, message, root), previous_message: before };
};

/** A person takes a message of theirs away. */
export const takeBack = (scene: Scene, at: { readonly chatId: string; readonly messageId: string }): Json => {
  const { channel, message } = find(scene, at.chatId, at.messageId);
  channel.messages.delete(message.ts);
  const ts = scene.world.nextTs();
  return { type: 'message', subtype: 'message_deleted', hidden: true, channel: channel.id, channel_type: channel.kind, ts, event_ts: ts, deleted_ts: message.ts, previous_message: wireMessage(scene.world, channel, message, scene.root) };
};

export interface Press {
  readonly chatId: string;
  readonly messageId: string;
  readonly data: string;
  readonly senderId: string;
}

/** A person presses a button below one of the app's messages. */
export const press = (scene: Scene, { chatId, messageId, data, senderId }: Press): { readonly nativeId: string; readonly payload: Json } => {
  const { world, team, root } = scene;
  const { channel, message } = find(scene, chatId, messageId);
  const elements = message.blocks.flatMap((block) => (Array.isArray(block['elements']) ? (block['elements'] as Json[]) : []));
  const element = elements.find((each) => each['value'] === data);
  if (element === undefined) throw new Error(`no button ${data} below ${messageId}`);
  const at = world.nextTs();
  const thread = message.threadTs === undefined ? {} : { thread_ts: message.threadTs };
  return {
    nativeId: `${at}:${senderId}`,
    payload: {
      type: 'block_actions',
      user: { id: senderId, username: senderId.toLowerCase(), name: senderId.toLowerCase(), team_id: team.id },
      api_app_id: 'A00FAKEAPP01',
      token: 'simulated',
      container: { type: 'message', message_ts: message.ts, channel_id: channel.id, is_ephemeral: message.reader !== undefined, ...thread },
      trigger_id: world.nextId('trigger'),
      team: { id: team.id, domain: team.name.toLowerCase() },
      channel: { id: channel.id, name: channel.kind === 'im' ? 'directmessage' : channel.name },
      message: wireMessage(world, channel, message, root),
      actions: [{ ...element, block_id: 'simulated', action_ts: at }],
      response_url: replyUrl(scene, channel.id, senderId),
    },
  };
};

/** Where a command or a press can be answered for half an hour. */
const replyUrl = ({ world, root }: Scene, channel: string, user: string): string => {
  const id = world.nextId('R');
  world.replies.set(id, { channel, user, left: 5 });
  return `${root}/reply/${id}`;
};

/** A person types a slash command. */
export const slash = (scene: Scene, said: { readonly chatId: string; readonly senderId: string; readonly command: string; readonly text: string }): { readonly nativeId: string; readonly payload: Json } => {
  const { world, team } = scene;
  world.people.set(said.senderId, world.people.get(said.senderId) ?? 'Somebody');
  const channel = enter(world, said.chatId, team.id, said.chatId.startsWith('D') ? said.senderId : undefined);
  const trigger = world.nextId('trigger');
  return {
    nativeId: `slash:${trigger}`,
    payload: {
      token: 'simulated',
      team_id: team.id,
      team_domain: team.name.toLowerCase(),
      channel_id: channel.id,
      channel_name: channel.kind === 'im' ? 'directmessage' : channel.name,
      user_id: said.senderId,
      user_name: said.senderId.toLowerCase(),
      command: said.command,
      text: said.text,
      api_app_id: 'A00FAKEAPP01',
      is_enterprise_install: 'false',
      response_url: replyUrl(scene, channel.id, said.senderId),
      trigger_id: trigger,
    },
  };
};
