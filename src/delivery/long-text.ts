import type { OutboundMedia } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Platform } from '../platforms/contract.ts';
import { splitMarkdown } from './chunks.ts';
import { keepOutgoing } from './outgoing-file.ts';

export interface LongTextDeps {
  readonly mediaFolder: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether the account can send files. */
  readonly sendsFiles: boolean;
}

/** Room for the mark of a repeat, which `composeDeliveries` keeps free. */
const markRoom = 16;

const beginning = (platform: Platform, text: string, note: string): string => {
  const { limits } = platform;
  const limit = Math.max(1, limits.text - limits.measure(`\n\n${note}`) - markRoom);
  const [first = ''] = splitMarkdown(text, { limit, measure: (part) => limits.measure(part) });
  return `${first}\n\n${note}`;
};

/**
 * A text that a platform would have to show in more messages than people want to get there: its beginning, and all of it as a file, or where that file lies.
 * Undefined for a text that may go as it is.
 */
export const shortenLongText = async (platform: Platform, text: string, deps: LongTextDeps): Promise<{ readonly text: string; readonly media: readonly OutboundMedia[] } | undefined> => {
  const { limits } = platform;
  if (limits.mostParts === undefined || limits.measure(text) <= limits.text) return undefined;
  const parts = splitMarkdown(text, { limit: limits.text - markRoom, measure: (part) => limits.measure(part) });
  if (parts.length <= limits.mostParts) return undefined;
  const file = await keepOutgoing(deps.mediaFolder, { name: 'answer.md', bytes: [Buffer.from(text)] }, deps);
  if (deps.sendsFiles) return { text: beginning(platform, text, '… The whole text is in the file.'), media: [file] };
  return { text: beginning(platform, text, `… This is only the beginning. All of it lies in ${file.path} on the gateway.`), media: [] };
};
