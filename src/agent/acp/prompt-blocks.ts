import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Attachment, TranscriptMessage } from '../../core/transcript.ts';
import type { Logger } from '../../lib/logger.ts';
import { loadImages } from '../models/media/load-images.ts';

/** How much of a conversation is told to an agent that does not remember it. */
const maxHistoryChars = 24_000;
const maxRowChars = 4_000;

const shorten = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)} […]`.toWellFormed() : text);

const rowText = (row: TranscriptMessage): string | undefined => {
  switch (row.role) {
    case 'user':
      return `User: ${shorten(row.content, maxRowChars)}`;
    case 'assistant': {
      const tools = (row.toolCalls ?? []).map((call) => `[used ${call.name}: ${shorten(call.arguments, 200)}]`);
      const text = [shorten(row.content, maxRowChars), ...tools].filter((part) => part.trim() !== '').join('\n');
      return text === '' ? undefined : `You: ${text}`;
    }
    case 'tool':
      return undefined;
    default:
      return row.role satisfies never;
  }
};

/** The newest part of what was said, for an agent that was not there; undefined when there is nothing to tell. */
export const historyText = (rows: readonly TranscriptMessage[]): string | undefined => {
  const texts: string[] = [];
  let chars = 0;
  for (const row of rows.toReversed()) {
    const text = rowText(row);
    if (text === undefined) continue;
    chars += text.length;
    if (chars > maxHistoryChars) break;
    texts.unshift(text);
  }
  if (texts.length === 0) return undefined;
  return `[This conversation began before this session. What was said last, oldest first, is only for your information:]\n\n${texts.join('\n\n')}\n\n[End of what was said before. Now answer this:]`;
};

export const restartText = `[The gateway was restarted while you were working on this request. What you had done may have taken effect. Look at what is there before you do anything again, then finish; if you had finished, give your answer again. The request was:]`;

const linkTo = (file: Attachment, mediaFolder: string): ContentBlock => ({ type: 'resource_link', name: file.name, mimeType: file.mime, uri: pathToFileURL(resolve(mediaFolder, file.path)).href });

export interface BlockOptions {
  readonly mediaFolder: string;
  readonly log: Logger;
  /** The agent takes images. */
  readonly images: boolean;
}

/** What people said, as the agent gets it: texts, images that it can see, and links to the other files. */
export const promptBlocks = async (rows: readonly TranscriptMessage[], options: BlockOptions): Promise<ContentBlock[]> => {
  const images = options.images ? await loadImages(rows, options) : new Map<Attachment, never>();
  const blocks = rows.flatMap((row): ContentBlock[] => {
    const files = (row.attachments ?? []).map((file): ContentBlock => {
      const image = images.get(file);
      return image === undefined ? linkTo(file, options.mediaFolder) : { type: 'image', mimeType: image.mime, data: image.base64 };
    });
    return row.content.trim() === '' ? files : [{ type: 'text', text: row.content }, ...files];
  });
  return blocks.length > 0 ? blocks : [{ type: 'text', text: 'Please go on.' }];
};
