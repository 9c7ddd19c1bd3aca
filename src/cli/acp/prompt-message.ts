import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Link } from '../chat/link.ts';

type LocalFile = NonNullable<Parameters<Link['say']>[1]>[number];

/** What an editor sends, as one message of a person. */
export interface PromptMessage {
  readonly text: string;
  readonly files: readonly LocalFile[];
}

/** As much of a file is put into the text; the agent can read the rest by itself. */
const maxInlineChars = 50_000;
const maxFiles = 10;
const extensions: Readonly<Record<string, string>> = { 'image/png': '.png', 'image/jpeg': '.jpg', 'image/gif': '.gif', 'image/webp': '.webp' };

const pathOf = (uri: string): string => (uri.startsWith('file://') && URL.canParse(uri) ? fileURLToPath(uri) : uri);

const fence = (text: string): string => {
  const marks = '`'.repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
  return `${marks}\n${text}\n${marks}`;
};

const cut = (text: string): string => (text.length > maxInlineChars ? `${text.slice(0, maxInlineChars).toWellFormed()}\n[cut off here]` : text);

const textOf = (block: ContentBlock): string => {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.name}: ${pathOf(block.uri)}]`;
    case 'resource':
      return 'text' in block.resource ? `[${pathOf(block.resource.uri)}]\n${fence(cut(block.resource.text))}` : `[${pathOf(block.resource.uri)}]`;
    case 'image':
    case 'audio':
      return '';
    default:
      block satisfies never;
      return '';
  }
};

const keepFile = async (block: Extract<ContentBlock, { type: 'image' }>, folder: string): Promise<LocalFile> => {
  const name = `${randomUUID()}${extensions[block.mimeType] ?? '.bin'}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, name), Buffer.from(block.data, 'base64'), { mode: 0o600 });
  return { name, path: join(folder, name), kind: 'photo', mime: block.mimeType };
};

/** Puts images into `folder`, from where the gateway takes them over. */
export const promptMessage = async (prompt: readonly ContentBlock[], folder: string): Promise<PromptMessage> => {
  const images = prompt.filter((block) => block.type === 'image').slice(0, maxFiles);
  const files = await Promise.all(images.map((image) => keepFile(image, folder)));
  return { text: prompt.map(textOf).filter((part) => part.trim() !== '').join('\n'), files };
};
