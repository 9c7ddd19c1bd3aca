import { emojiNamed } from './emoji.ts';
import { parseChange, parseMessage } from './parse-message.ts';
import { chatAt, closedTo, privatePrefix, skip, workspaceOf } from './reading.ts';
import type { Parsed, Reading, Spot } from './reading.ts';
import { readText } from './text.ts';
import { isDirect, record, records, text, timestamp, tsToMs } from './wire.ts';
import type { Json } from './wire.ts';

const withoutContent = { text: '', media: [], mentioned: false } as const;

const parseReaction = (reading: Reading, spot: Spot, event: Json): Parsed => {
  const ts = timestamp(record(event['item'])?.['ts']);
  const at = timestamp(event['event_ts']);
  const user = text(event['user']);
  const name = text(event['reaction']);
  if (ts === undefined || at === undefined || user === undefined || name === undefined) return skip('malformed reaction');
  if (user === spot.workspace.userId) return skip('own reaction');
  const { threadId: _unknown, ...chat } = chatAt(reading, spot, { ts });
  return {
    ...withoutContent,
    account: reading.account,
    kind: 'reaction',
    nativeId: `${ts}:${user}:${name}:${at}`,
    chat,
    sender: { id: user, isBot: false },
    messageId: ts,
    addressed: isDirect(spot.channelId),
    reaction: { emoji: emojiNamed(name), added: event['type'] === 'reaction_added' },
    sentAtMs: tsToMs(at),
  };
};

const parseJoin = (reading: Reading, spot: Spot, event: Json): Parsed => {
  const user = text(event['user']);
  const at = timestamp(event['event_ts']);
  if (user === undefined || at === undefined) return skip('malformed join');
  const isOwn = user === spot.workspace.userId;
  const { threadId: _none, ...chat } = chatAt(reading, spot, { ts: at });
  return {
    ...withoutContent,
    account: reading.account,
    kind: 'join',
    nativeId: `${user}:${at}`,
    chat,
    sender: { id: isOwn ? (text(event['inviter']) ?? user) : user, isBot: false },
    text: isOwn ? '' : `[joined: <@${user}>]`,
    addressed: isOwn,
    sentAtMs: tsToMs(at),
  };
};

const parseEventIn = (reading: Reading, spot: Spot, event: Json): Parsed => {
  switch (event['type']) {
    case 'message':
      if (event['subtype'] === 'message_changed') return parseChange(reading, spot, event);
      return event['subtype'] === 'message_deleted' ? skip('message deleted') : parseMessage(reading, spot, event);
    case 'app_mention':
      // The same message also comes as `message` where the app reads along: they have one id.
      return parseMessage(reading, spot, event);
    case 'reaction_added':
    case 'reaction_removed':
      return parseReaction(reading, spot, event);
    case 'member_joined_channel':
      return parseJoin(reading, spot, event);
    default:
      return skip(`unknown event: ${text(event['type']) ?? 'unnamed'}`);
  }
};

/** An event of the Events API, whichever way it came. */
export const parseEvent = (reading: Reading, payload: unknown): Parsed => {
  const outer = record(payload);
  const event = record(outer?.['event']);
  if (outer === undefined || event === undefined) return skip('malformed event');
  const channelId = text(event['channel']) ?? text(record(event['item'])?.['channel']);
  if (channelId === undefined) return skip(`event without a channel: ${text(event['type']) ?? 'unnamed'}`);
  const workspace = workspaceOf(reading, outer);
  if (workspace === undefined) return skip('a workspace without a token');
  const spot = { workspace, channelId };
  const closed = event['type'] === 'message' || event['type'] === 'app_mention' ? undefined : closedTo(reading, channelId);
  return closed === undefined ? parseEventIn(reading, spot, event) : skip(closed);
};

/** Our own buttons carry this before their place in the message. */
export const actionPrefix = 'hermes:';

/** A press on one of our buttons. */
export const parsePress = (reading: Reading, payload: unknown, receivedAtMs: number): Parsed => {
  const outer = record(payload);
  const container = record(outer?.['container']);
  const action = records(outer?.['actions'])[0];
  const workspace = outer === undefined ? undefined : workspaceOf(reading, outer);
  const channelId = text(container?.['channel_id']) ?? text(record(outer?.['channel'])?.['id']);
  const ts = timestamp(container?.['message_ts']);
  const user = text(record(outer?.['user'])?.['id']);
  const at = text(action?.['action_ts']);
  const data = text(action?.['value']);
  if (outer?.['type'] !== 'block_actions') return skip(`unknown interaction: ${text(outer?.['type']) ?? 'unnamed'}`);
  if (workspace === undefined) return skip('a workspace without a token');
  if (channelId === undefined || ts === undefined || user === undefined || at === undefined) return skip('malformed press');
  if (data === undefined || text(action?.['action_id'])?.startsWith(actionPrefix) !== true) return skip('a button that is not ours');
  const chat = chatAt(reading, { workspace, channelId }, { ts, threadTs: timestamp(container?.['thread_ts']) });
  return {
    ...withoutContent,
    account: reading.account,
    kind: 'button',
    nativeId: `${at}:${user}`,
    chat: container?.['is_ephemeral'] === true && !isDirect(channelId) ? { ...chat, threadId: `${privatePrefix}${user}` } : chat,
    sender: { id: user, isBot: false },
    messageId: ts,
    addressed: true,
    button: { data },
    sentAtMs: receivedAtMs,
  };
};

/** `/hermes status` gives a command, `/hermes how are you` says something; a command of its own in the app's settings is that command. */
const slashText = ({ options, isCommand }: Reading, command: string, words: string): string => {
  if (command !== options.slash_command) return `${command} ${words}`.trim();
  const [first = ''] = words.replace(/^[/!]/, '').split(/\s/, 1);
  if (words === '') return '/help';
  return isCommand(first.toLowerCase()) ? `/${words.replace(/^[/!]/, '')}` : words;
};

/** A slash command. In a channel nobody else has seen it, so its answers are for that person only. */
export const parseSlash = (reading: Reading, payload: unknown, receivedAtMs: number): Parsed => {
  const outer = record(payload);
  const command = text(outer?.['command']);
  const channelId = text(outer?.['channel_id']);
  const user = text(outer?.['user_id']);
  const id = text(outer?.['trigger_id']);
  if (outer === undefined || command === undefined || channelId === undefined || user === undefined || id === undefined) return skip('malformed slash command');
  const workspace = workspaceOf(reading, outer);
  if (workspace === undefined) return skip('a workspace without a token');
  const closed = closedTo(reading, channelId);
  if (closed !== undefined) return skip(closed);
  const direct = isDirect(channelId);
  const name = text(outer['user_name']);
  return {
    ...withoutContent,
    account: reading.account,
    kind: 'message',
    nativeId: `${privatePrefix}${id}`,
    chat: { id: channelId, type: direct ? 'dm' : 'group', scopeId: workspace.teamId, ...(!direct && { threadId: `${privatePrefix}${user}` }) },
    sender: { id: user, isBot: false, ...(name !== undefined && { name }) },
    text: slashText(reading, command, readText(text(outer['text']) ?? '').trim()),
    addressed: true,
    mentioned: true,
    sentAtMs: receivedAtMs,
  };
};
