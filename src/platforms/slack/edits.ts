import { PlatformError } from '../../core/errors.ts';
import type { Edits } from '../contract.ts';
import type { FindAddress } from './address.ts';
import { blocksOf, written } from './blocks.ts';
import { isRefusedWith } from './errors.ts';
import { filePrefix } from './uploads.ts';
import { timestamp } from './wire.ts';

/** The id of a message that Slack can change. */
export const requireTs = (messageId: string): string => {
  const ts = timestamp(messageId);
  if (ts === undefined) throw new PlatformError(messageId.startsWith(filePrefix) ? 'unsupported' : 'not_found', 'the message cannot be changed', { missing: 'message' });
  return ts;
};

export const newEdits = (addressOf: FindAddress): Edits => ({
  async edit(messageId, message, _final, signal) {
    const ts = requireTs(messageId);
    const { workspace, channel } = await addressOf(message.target, signal);
    // `chat.update` cannot switch markup off, and keeps the blocks of before unless it gets others.
    await workspace.api.repeatable('chat.update', { channel, ts, text: written(message).text, blocks: blocksOf(message, true) }, signal, 'chat');
  },
  async remove(target, messageId, signal) {
    const { workspace, channel } = await addressOf(target, signal);
    const { api } = workspace;
    try {
      if (messageId.startsWith(filePrefix)) await api.repeatable('files.delete', { file: messageId.slice(filePrefix.length) }, signal, 'chat');
      else await api.repeatable('chat.delete', { channel, ts: requireTs(messageId) }, signal, 'chat');
    } catch (error) {
      if (!isRefusedWith(error, 'message_not_found', 'file_not_found', 'file_deleted')) throw error;
    }
  },
});
