import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import type { Address, FindAddress } from './address.ts';
import { blocksOf, written } from './blocks.ts';
import type { SlackOptions } from './options.ts';
import { takeReplyAddress } from './private-reply.ts';
import { findShown, metadataOf } from './shown.ts';
import { forgetFiles, shareFiles } from './uploads.ts';
import { text, timestamp } from './wire.ts';
import type { Json } from './wire.ts';

export interface Sending {
  readonly addressOf: FindAddress;
  readonly options: SlackOptions;
  readonly data: AccountData;
  readonly clock: Clock;
  /** Posts to the address of a slash command. */
  reply(url: string, message: Json, signal: AbortSignal): Promise<void>;
}

const hasButtons = ({ choices }: OutboundMessage): boolean => (choices?.length ?? 0) > 0;

const withBlocks = (message: OutboundMessage): Json => {
  const blocks = blocksOf(message);
  return { ...written(message), ...(blocks.length > 0 && { blocks }) };
};

const post = async ({ options, clock }: Sending, address: Address, message: OutboundMessage, signal: AbortSignal): Promise<string> => {
  const { workspace, channel, threadTs } = address;
  const shown = message.mayBeShown === true ? await findShown(address, { key: message.key, words: written(message).text, clock }, signal) : undefined;
  if (shown !== undefined) return shown;
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs, ...(options.reply_broadcast && message.growing !== true && { reply_broadcast: true }) };
  const unfurl = { unfurl_links: options.unfurl_links, unfurl_media: options.unfurl_links };
  const answer = await workspace.api.once('chat.postMessage', { channel, ...thread, ...withBlocks(message), ...unfurl, metadata: metadataOf(message.key) }, signal);
  const ts = timestamp(answer['ts']);
  if (ts === undefined) throw new PlatformError('unknown_outcome', 'chat.postMessage: the answer has no message');
  return ts;
};

/** Ids of messages that only one person has seen; nothing can be done with them afterwards. */
const privateId = 'private:';

/** What answers a slash command in a channel. Never shown to everybody, and never twice. */
const whisper = async ({ data, clock, reply }: Sending, address: Address, message: OutboundMessage, signal: AbortSignal): Promise<string> => {
  if (message.growing === true) throw new PlatformError('unsupported', 'a message for one person cannot be changed while it grows');
  if (message.mayBeShown === true) throw new PlatformError('rejected', 'whether a message for one person was shown cannot be found out');
  if (message.text.trim() === '') throw new PlatformError('unsupported', 'files cannot be shown to one person only; ask in a direct message');
  const url = await takeReplyAddress(data, message.target, clock.now());
  if (url !== undefined) {
    await reply(url, { response_type: 'ephemeral', replace_original: false, ...withBlocks(message) }, signal);
    return `${privateId}${message.key}`;
  }
  const answer = await address.workspace.api.once('chat.postEphemeral', { channel: address.channel, user: address.reader, ...withBlocks(message) }, signal);
  return `${privateId}${text(answer['message_ts']) ?? message.key}`;
};

/** Files first, with the words above them; words with buttons, or without markup, are a message of their own. */
const postWithFiles = async (sending: Sending, address: Address, message: OutboundMessage, signal: AbortSignal): Promise<readonly string[]> => {
  const hasText = message.text.trim() !== '';
  const apart = hasText && (hasButtons(message) || message.plain === true);
  const comment = hasText && !apart ? written(message).text : undefined;
  const mayBeShown = message.mayBeShown === true;
  const files = await shareFiles({ address, data: sending.data, key: message.key, media: message.media ?? [], comment, mayBeShown, nowMs: sending.clock.now() }, signal);
  const words = apart ? [await post(sending, address, message, signal)] : [];
  await forgetFiles(sending.data, message.key);
  return [files, ...words];
};

/** Sends one message. What may have been shown already is looked for first. */
export const newSend =
  (sending: Sending) =>
  async (message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
    if (signal.aborted) throw new PlatformError('aborted', 'aborted');
    const hasFiles = (message.media?.length ?? 0) > 0;
    if (!hasFiles && message.text.trim() === '') throw new PlatformError('rejected', 'there is nothing to send');
    const address = await sending.addressOf(message.target, signal);
    if (address.reader !== undefined) return { messageIds: [await whisper(sending, address, message, signal)] };
    return { messageIds: hasFiles ? await postWithFiles(sending, address, message, signal) : [await post(sending, address, message, signal)] };
  };
