import { PlatformError } from '../../core/errors.ts';
import type { AccountData, Choices, Directory, ListedChannel, Reactions, Threads, Typing } from '../contract.ts';
import type { FindAddress } from './address.ts';
import { requireTs } from './edits.ts';
import { emojiName } from './emoji.ts';
import { isRefusedWith } from './errors.ts';
import { escapeSlack } from './format.ts';
import { announcePlace } from './places.ts';
import { list, record, records, text, timestamp } from './wire.ts';
import type { Workspace, Workspaces } from './workspaces.ts';

/** Slack knows the reactions of everybody on a message by their names; ours is the one that has our id. */
const ownReactions = async ({ api, userId }: Workspace, message: { channel: string; timestamp: string }, signal: AbortSignal): Promise<readonly string[]> => {
  const answer = await api.repeatable('reactions.get', { ...message, full: true }, signal, 'chat');
  return records(record(answer['message'])?.['reactions']).flatMap((reaction) => (list(reaction['users']).includes(userId) ? (text(reaction['name']) ?? []) : []));
};

export const newReactions = (addressOf: FindAddress): Reactions => ({
  async set(target, messageId, emoji, signal) {
    const name = emoji === null ? undefined : emojiName(emoji);
    if (emoji !== null && name === undefined) throw new PlatformError('unsupported', 'Slack has no name for that emoji that we know');
    const { workspace, channel } = await addressOf(target, signal);
    const message = { channel, timestamp: requireTs(messageId) };
    const before = await ownReactions(workspace, message, signal);
    if (name !== undefined && !before.includes(name)) await workspace.api.repeatable('reactions.add', { ...message, name }, signal, 'chat').catch(unless('already_reacted'));
    for (const old of before) if (old !== name) await workspace.api.repeatable('reactions.remove', { ...message, name: old }, signal, 'chat').catch(unless('no_reaction'));
  },
});

/** For refusals that mean: it already is as it should be. */
const unless =
  (word: string) =>
  (error: unknown): void => {
    if (!isRefusedWith(error, word)) throw error;
  };

/** A press needs no more answer than its acknowledgement; words are shown to whoever pressed, and to nobody else. */
export const newChoices = (addressOf: FindAddress): Choices => ({
  async answer(event, words, signal) {
    if (words === undefined) return;
    const { id: chatId, type: chatType, threadId, scopeId } = event.chat;
    const target = { account: event.account, chatId, chatType, ...(threadId !== undefined && { threadId }), ...(scopeId !== undefined && { scopeId }) };
    const { workspace, channel, threadTs } = await addressOf(target, signal);
    await workspace.api.repeatable('chat.postEphemeral', { channel, user: event.sender.id, text: escapeSlack(words), thread_ts: threadTs }, signal, 'chat');
  },
});

const maxThreadName = 80;

/** Slack's threads hang on a message, so a new one begins with a message of ours. */
export const newThreads = (addressOf: FindAddress, data: AccountData): Threads => ({
  async open(chat, name, signal) {
    const { replyTo: _elsewhere, threadId: _other, ...place } = chat;
    const { workspace, channel } = await addressOf(place, signal);
    const title = escapeSlack(name.trim().slice(0, maxThreadName).toWellFormed()) || 'Hermes';
    const answer = await workspace.api.once('chat.postMessage', { channel, text: `:thread: ${title}`, unfurl_links: false, unfurl_media: false }, signal);
    const ts = timestamp(answer['ts']);
    if (ts === undefined) throw new PlatformError('unknown_outcome', 'chat.postMessage: the answer has no message');
    await announcePlace(data, { teamId: workspace.teamId, channelId: channel, threadTs: ts }, ts);
    return { ...place, chatId: channel, threadId: ts, scopeId: workspace.teamId };
  },
});

/** The only sign that Slack has is the status of a thread, and it goes by itself with the next message there. */
export const newTyping = (addressOf: FindAddress, status: string): Typing => ({
  everyMs: 20_000,
  async show(target, signal) {
    const { workspace, channel, threadTs } = await addressOf(target, signal);
    if (threadTs !== undefined) await workspace.api.repeatable('assistant.threads.setStatus', { channel_id: channel, thread_ts: threadTs, status }, signal, 'chat');
  },
});

const mostPages = 20;

const channelsOf = async ({ api, teamId, teamName }: Workspace, signal: AbortSignal): Promise<readonly ListedChannel[]> => {
  const found: ListedChannel[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await api.repeatable('users.conversations', { types: 'public_channel,private_channel,mpim', exclude_archived: true, limit: 200, cursor }, signal);
    for (const channel of records(answer['channels'])) {
      const [id, name] = [text(channel['id']), text(channel['name'])];
      if (id !== undefined && name !== undefined) found.push({ id, name, type: 'group', scopeId: teamId, scopeName: teamName });
    }
    cursor = text(record(answer['response_metadata'])?.['next_cursor']);
    if (cursor === undefined) break;
  }
  return found;
};

/** The channels that the app is a member of. */
export const newDirectory = (workspaces: Workspaces): Directory => ({
  async list(signal) {
    const all: ListedChannel[] = [];
    for (const workspace of await workspaces.all(signal)) all.push(...(await channelsOf(workspace, signal)));
    return all;
  },
});
