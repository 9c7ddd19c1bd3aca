import { PlatformError } from '../core/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { timeLimit } from '../lib/time-limit.ts';
import type { Adapter } from '../platforms/contract.ts';
import type { OutboxItem } from '../store/messages/outbox.ts';
import { numbered } from './question-message.ts';

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** One try to show a delivery: what the platform calls it, or why not. A call that was cut off or broke in an unexpected way may have arrived. Never rejects. */
export const callAdapter = async (adapter: Adapter, item: OutboxItem, options: CallOptions): Promise<readonly string[] | PlatformError> => {
  const { message, finishes } = item.delivery;
  using limit = timeLimit(options.timeoutMs, options.signal);
  const { signal } = limit;
  try {
    if (finishes !== undefined && adapter.edits !== undefined && message.media === undefined) {
      await adapter.edits.edit(finishes, message, true, signal);
      return [finishes];
    }
    const shown = item.log.some(({ outcome }) => outcome === 'unknown' || outcome === 'unknown_outcome') ? { ...message, mayBeShown: true } : message;
    const receipt = await adapter.send(adapter.choices === undefined ? numbered(shown) : shown, signal);
    return receipt.messageIds;
  } catch (error) {
    if (!(error instanceof PlatformError)) options.log.error({ err: error, account: message.target.account }, 'delivery.adapter_broke_its_contract');
    return error instanceof PlatformError && error.code !== 'aborted' ? error : new PlatformError('unknown_outcome', error instanceof Error ? error.message : String(error), { cause: error });
  }
};
