import type { InboundEvent } from '../../core/message.ts';
import { unread } from './addressing.ts';
import { skip, toChat, toSender } from './parse.ts';
import type { Parsed, Reading, Surroundings } from './parse.ts';
import { integer, list, readMember, readUser, record, snowflake, snowflakeTimeMs, text } from './wire.ts';
import type { Json } from './wire.ts';

const emojiName = (value: unknown): string | undefined => {
  const emoji = record(value);
  const name = text(emoji?.['name']);
  const id = snowflake(emoji?.['id']);
  return id === undefined ? name : `${name ?? ''}:${id}`;
};

/** A reaction has no id of its own; `eventId` is the event's place in the session, the same again when the session is replayed. */
export const parseReaction = (reading: Reading, data: Json, around: Surroundings, event: { readonly eventId: string; readonly added: boolean; readonly atMs: number }): Parsed => {
  const userId = snowflake(data['user_id']);
  const channelId = snowflake(data['channel_id']);
  const messageId = snowflake(data['message_id']);
  const emoji = emojiName(data['emoji']);
  if (userId === undefined || channelId === undefined || messageId === undefined || emoji === undefined) return skip('malformed reaction');
  if (userId === reading.identity.id) return skip('own reaction');
  const member = record(data['member']);
  const user = readUser(member?.['user']);
  const chat = toChat({ channelId, guildId: snowflake(data['guild_id']), name: user?.name }, around);
  return {
    account: reading.account,
    kind: 'reaction',
    nativeId: `${event.added ? 'add' : 'remove'}:${event.eventId}`,
    chat,
    sender: toSender({ id: userId, isBot: user?.isBot === true, name: user?.name, roles: member === undefined ? undefined : readMember(member).roles }),
    text: '',
    media: [],
    messageId,
    addressed: chat.type === 'dm',
    mentioned: false,
    reaction: { emoji, added: event.added },
    sentAtMs: event.atMs,
  };
};

export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly applicationId: string;
  readonly isCommand: boolean;
}

/** What an interaction can be answered with; undefined for kinds that we never ask for. */
export const readInteraction = (data: Json): Interaction | undefined => {
  const id = snowflake(data['id']);
  const token = text(data['token']);
  const applicationId = snowflake(data['application_id']);
  const type = integer(data['type']);
  if (id === undefined || token === undefined || applicationId === undefined || (type !== 2 && type !== 3)) return undefined;
  return { id, token, applicationId, isCommand: type === 2 };
};

/** The command as it would have been typed. */
const typed = (data: Json | undefined): string | undefined => {
  const name = text(data?.['name']);
  if (name === undefined || (data?.['type'] ?? 1) !== 1) return undefined;
  const values = list(data?.['options']).flatMap((option) => {
    const value = record(option)?.['value'];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [String(value).toWellFormed()] : [];
  });
  return [`/${name}`, ...values].join(' ').trim();
};

/** Where an answer to an interaction is attached, although no message stands there yet. */
export const interactionAnchor = 'interaction:';

export const parseInteraction = (reading: Reading, data: Json, around: Surroundings): Parsed => {
  const interaction = readInteraction(data);
  const channelId = snowflake(data['channel_id']);
  const member = record(data['member']);
  const user = readUser(member?.['user'] ?? data['user']);
  if (interaction === undefined || channelId === undefined || user === undefined) return skip('malformed or unknown interaction');
  const details = record(data['data']);
  const { nick, roles } = readMember(member);
  const chat = toChat({ channelId, guildId: snowflake(data['guild_id']), name: user.name }, around);
  const ignored = chat.type === 'dm' ? undefined : unread(reading.options, chat);
  if (ignored !== undefined) return skip(ignored);
  const common = {
    account: reading.account,
    nativeId: interaction.id,
    chat,
    sender: toSender({ ...user, ...(nick !== undefined && { name: nick }), roles }),
    media: [],
    addressed: true,
    sentAtMs: snowflakeTimeMs(interaction.id),
  } satisfies Partial<InboundEvent>;
  if (interaction.isCommand) {
    const words = typed(details);
    if (words === undefined) return skip('a command that is not typed');
    return { ...common, kind: 'message', text: words, messageId: `${interactionAnchor}${interaction.id}`, mentioned: true, awaitsAnswer: true };
  }
  const pressed = text(details?.['custom_id']);
  const messageId = snowflake(record(data['message'])?.['id']);
  if (pressed === undefined || messageId === undefined) return skip('a press without message or data');
  return { ...common, kind: 'button', text: '', messageId, mentioned: false, button: { data: pressed } };
};
