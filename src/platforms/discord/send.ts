import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import { resumable } from '../progress.ts';
import { channelOf } from './address.ts';
import { madeId } from './api.ts';
import type { DiscordApi } from './api.ts';
import type { Interactions } from './interactions.ts';
import { bodyOf, nonceOf, planParts } from './message-body.ts';
import type { Part } from './message-body.ts';
import type { DiscordOptions } from './options.ts';
import type { Places } from './places.ts';
import type { Posts } from './posts.ts';
import type { ThreadsBelow } from './threads-below.ts';
import { prepareUploads } from './uploads.ts';
import { isForumType, snowflake } from './wire.ts';

export interface Sending {
  readonly api: DiscordApi;
  readonly options: DiscordOptions;
  readonly data: AccountData;
  readonly clock: Clock;
  readonly places: Places;
  readonly interactions: Interactions;
  readonly threadsBelow: ThreadsBelow;
  readonly posts: Posts;
}

const isGone = (error: unknown): boolean => error instanceof PlatformError && (error.code === 'not_found' || error.code === 'bad_credential' || error.code === 'rejected');

/** Sends one message; it makes each call once. A message of several calls goes on where it stopped when it is repeated. */
export const newSend = (sending: Sending) => {
  const { api, options, data, clock, places, interactions, threadsBelow, posts } = sending;

  /** A command from the menu is answered in the place that Discord keeps for it; answers nothing when that is gone. */
  const answerCommand = async (message: OutboundMessage, part: Part, signal: AbortSignal): Promise<string | undefined> => {
    const { replyTo } = message.target;
    const awaited = await interactions.awaited(replyTo);
    if (awaited === undefined || replyTo === undefined) return undefined;
    const { flags: _notHere, ...body } = bodyOf(message, part, options);
    const ids = { application: awaited.applicationId, token: awaited.token };
    try {
      const id = madeId(await api.call({ method: 'PATCH', route: '/webhooks/{application}/{token}/messages/@original', ids, body, files: part.files, anonymous: true }, signal));
      await interactions.settle(replyTo);
      return id;
    } catch (error) {
      if (!isGone(error)) throw error;
      await interactions.settle(replyTo);
      return undefined;
    }
  };

  const referenceOf = (message: OutboundMessage, channelId: string): object => {
    const messageId = snowflake(message.target.replyTo);
    // What a thread hangs on stands in another channel, where an answer from inside cannot point to.
    return messageId === undefined || messageId === channelId ? {} : { message_reference: { message_id: messageId, fail_if_not_exists: false } };
  };

  const postMessage = async (message: OutboundMessage, part: Part, at: { readonly channel: string; readonly index: number }, signal: AbortSignal): Promise<string> => {
    const reference = at.index === 0 && part.files.every(({ recording }) => recording === undefined) ? referenceOf(message, at.channel) : {};
    const body = { ...bodyOf(message, part, options), ...reference, nonce: nonceOf(message.key, at.index), enforce_nonce: true };
    return madeId(await api.call({ method: 'POST', route: '/channels/{channel}/messages', ids: { channel: at.channel }, body, files: part.files, once: true }, signal));
  };

  const sendPart = async (message: OutboundMessage, part: Part, index: number, signal: AbortSignal): Promise<string> => {
    const answered = index === 0 ? await answerCommand(message, part, signal) : undefined;
    if (answered !== undefined) return answered;
    const channel = channelOf(message.target);
    if (message.target.chatType === 'thread') await threadsBelow.ensure(channel, signal);
    const post = (): Promise<string> => posts.write(message, { part, index, forum: channel }, signal, postMessage);
    if (isForumType(places.known(channel)?.type)) return post();
    try {
      const id = await postMessage(message, part, { channel, index }, signal);
      places.join(channel);
      return id;
    } catch (error) {
      // A forum takes posts and no messages; which channels are forums is not known before they were heard of.
      if (!(error instanceof PlatformError) || error.code !== 'unsupported' || !isForumType((await places.find(channel, signal))?.type)) throw error;
      return post();
    }
  };

  return async (message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
    if (signal.aborted) throw new PlatformError('aborted', 'aborted');
    const parts = planParts(message, await prepareUploads(message.media ?? [], options.max_upload_mb * 1024 * 1024));
    if (parts.length === 0) throw new PlatformError('rejected', 'there is nothing to send');
    const messageIds = await resumable({ data, key: message.key, nowMs: clock.now() }, parts, async (part, index) => [await sendPart(message, part, index, signal)]);
    return { messageIds };
  };
};
