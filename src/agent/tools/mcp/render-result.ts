import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { boundResult } from '../bound-result.ts';
import { boundedLine, cleanText } from '../clean-text.ts';

/** More than any transcript takes; what is too long for one is kept in a file elsewhere. */
const maxRenderedChars = 1_000_000;

/** Something that is no text. */
export interface ReceivedFile {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

/** Puts a file where the agent can reach it; answers its path, or undefined when it is not kept. */
export type KeepFile = (file: ReceivedFile) => Promise<string | undefined>;

const sizeText = (bytes: number): string => (bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`);

const describeFile = async (kind: string, file: { readonly data: string; readonly mime: string | undefined }, keep: KeepFile): Promise<string> => {
  const bytes = Buffer.from(file.data, 'base64');
  const mime = boundedLine(file.mime ?? 'application/octet-stream', 100);
  const path = await keep({ bytes, mime });
  return `[${kind}, ${mime}, ${sizeText(bytes.length)}${path === undefined ? '; not kept' : `: ${path}`}]`;
};

const nameOf = (named: { readonly name?: string | undefined; readonly uri: string }): string => boundedLine(named.name === undefined ? named.uri : `${named.name} (${named.uri})`, 500);

/** Everything a server may answer with, as text for the model. */
export const renderBlocks = async (blocks: readonly ContentBlock[], keep: KeepFile): Promise<string> => {
  const parts: string[] = [];
  for (const block of blocks) parts.push(await renderBlock(block, keep));
  return parts.filter((part) => part !== '').join('\n\n');
};

const renderBlock = async (block: ContentBlock, keep: KeepFile): Promise<string> => {
  switch (block.type) {
    case 'text':
      return boundResult(cleanText(block.text), maxRenderedChars);
    case 'image':
    case 'audio':
      return describeFile(block.type, { data: block.data, mime: block.mimeType }, keep);
    case 'resource_link':
      return `[resource ${nameOf(block)}${block.description === undefined ? '' : `: ${boundedLine(block.description, 500)}`}]`;
    case 'resource':
      return renderResource(block.resource, keep);
    default:
      return block satisfies never;
  }
};

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];

export const renderResource = async (resource: Resource, keep: KeepFile): Promise<string> => {
  if ('text' in resource) return `[resource ${nameOf(resource)}]\n${boundResult(cleanText(resource.text), maxRenderedChars)}`;
  return describeFile(`resource ${nameOf(resource)}`, { data: resource.blob, mime: resource.mimeType }, keep);
};

/** The answer of a tool. Structured content is repeated as JSON only where no text says it. */
export const renderResult = async (result: CallToolResult, keep: KeepFile): Promise<string> => {
  const text = await renderBlocks(result.content, keep);
  const structured = result.structuredContent === undefined || result.content.some((block) => block.type === 'text') ? '' : cleanText(JSON.stringify(result.structuredContent));
  const whole = [text, structured].filter((part) => part !== '').join('\n\n');
  return whole === '' ? '(no output)' : boundResult(whole, maxRenderedChars);
};
