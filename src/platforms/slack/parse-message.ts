import type { InboundEvent, ReplyContext, Sender } from '../../core/message.ts';
import { readContent } from './content.ts';
import { chatAt, closedTo, skip } from './reading.ts';
import type { Parsed, Reading, Spot } from './reading.ts';
import { takeMention } from './text.ts';
import type { Called } from './text.ts';
import { isDirect, record, text, timestamp, tsToMs } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** Messages that people or bots have written; all other subtypes are notes of Slack about the channel. */
const spoken: ReadonlySet<unknown> = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message', 'bot_message']);

/** Who has written a message. */
export const senderOf = (raw: Json): Sender | undefined => {
  const botId = text(raw['bot_id']);
  const id = text(raw['user']) ?? botId;
  if (id === undefined) return undefined;
  const profile = record(raw['bot_profile']);
  const name = botId === undefined ? undefined : (text(raw['username']) ?? text(profile?.['name']));
  return { id, isBot: botId !== undefined || raw['subtype'] === 'bot_message', ...(name !== undefined && { name }) };
};

/** Whether we have written it. */
export const isOwn = (workspace: Workspace, raw: Json): boolean => raw['user'] === workspace.userId || (workspace.botId !== undefined && raw['bot_id'] === workspace.botId);

/** The message that a thread hangs on; Slack knows no other replies. */
const replyOf = (raw: Json, threadTs: string | undefined, ownId: string): ReplyContext | undefined => {
  if (threadTs === undefined) return undefined;
  const authorId = text(raw['parent_user_id']);
  return { messageId: threadTs, isOwn: authorId === ownId, ...(authorId !== undefined && { authorId }) };
};

const needsMention = ({ options }: Reading, channelId: string): boolean => {
  if (options.require_mention_channels.includes(channelId)) return true;
  return options.require_mention && !options.free_response_channels.includes(channelId);
};

const isAddressed = (reading: Reading, { channelId, workspace }: Spot, facts: { said: Called; called: boolean; threadTs: string | undefined; repliesToUs: boolean }): boolean => {
  const { options } = reading;
  if (isDirect(channelId) || facts.called) return true;
  if (options.ignore_other_user_mentions && facts.said.forOthers) return false;
  if (!needsMention(reading, channelId)) return true;
  if (facts.threadTs === undefined || options.thread_require_mention) return false;
  return facts.repliesToUs || reading.takesPart({ teamId: workspace.teamId, channelId, threadTs: facts.threadTs });
};

/** `edit` names the new version of an older message. */
export const parseMessage = (reading: Reading, spot: Spot, raw: Json, edit?: string): Parsed => {
  const { account } = reading;
  const { workspace, channelId } = spot;
  const ts = timestamp(raw['ts']);
  const sender = senderOf(raw);
  if (!spoken.has(raw['subtype'])) return skip(`no content: ${text(raw['subtype']) ?? 'unnamed'}`);
  if (ts === undefined || sender === undefined) return skip('malformed message');
  if (isOwn(workspace, raw)) return skip('own message');
  const closed = closedTo(reading, channelId);
  if (closed !== undefined) return skip(closed);
  const content = readContent(raw, workspace.teamId);
  if (content === undefined) return skip('no content: empty');
  // A message that has a thread below it names itself as its thread.
  const threadTs = [timestamp(raw['thread_ts'])].find((thread) => thread !== ts);
  const said = takeMention(content.text, workspace.userId);
  const called = said.mentioned || reading.options.mention_patterns.some((pattern) => new RegExp(pattern, 'i').test(said.text));
  const replyTo = replyOf(raw, threadTs, workspace.userId);
  const event: InboundEvent = {
    account,
    kind: edit === undefined ? 'message' : 'edit',
    nativeId: edit === undefined ? ts : `${ts}:${edit}`,
    chat: chatAt(reading, spot, { ts, threadTs }),
    sender,
    text: said.text,
    media: content.media,
    messageId: ts,
    addressed: isAddressed(reading, spot, { said, called, threadTs, repliesToUs: replyTo?.isOwn === true }),
    mentioned: called,
    sentAtMs: tsToMs(ts),
  };
  return replyTo === undefined ? event : { ...event, replyTo };
};

/** A change of somebody's message. Slack also reports previews of links and new threads as changes. */
export const parseChange = (reading: Reading, spot: Spot, event: Json): Parsed => {
  const now = record(event['message']);
  const before = record(event['previous_message']);
  if (now === undefined) return skip('malformed change');
  const edited = timestamp(record(now['edited'])?.['ts']);
  if (edited === undefined || (before !== undefined && text(before['text']) === text(now['text']))) return skip('the words of the message did not change');
  return parseMessage(reading, spot, now, edited);
};
