import { runBoundedWorker } from '../../../lib/bounded-worker.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Slots } from '../../../lib/slots.ts';
import { ToolError } from '../contract.ts';
import type { Page } from './fetch-page.ts';
import type { ReadablePage, ReadableRequest } from './readable-worker.ts';

export interface PageText {
  readonly title: string | undefined;
  readonly text: string;
}

export interface PageTextOptions {
  /** The source of a page, not its readable text. */
  readonly raw: boolean;
  readonly clock: Clock;
  /** Each conversion is a thread. */
  readonly slots: Slots;
}

type PageKind = 'html' | 'text' | 'pdf' | 'image' | 'binary';

const maxHtmlChars = 3_000_000;
const timeoutMs = 8000;
const heapMb = 384;

const startsWith = (bytes: Uint8Array, text: string): boolean => Buffer.from(bytes.subarray(0, text.length)).toString('latin1') === text;

/** By what the server says, and by the bytes where it says nothing or something wrong. */
export const pageKind = ({ contentType, bytes }: Pick<Page, 'contentType' | 'bytes'>): PageKind => {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/pdf' || startsWith(bytes, '%PDF-')) return 'pdf';
  if (/^image\/(?!svg)/.test(type)) return 'image';
  if (/^(?:audio|video|font)\//.test(type)) return 'binary';
  const head = bytes.subarray(0, 8192);
  if (head.includes(0) && !/charset=utf-16/i.test(contentType)) return 'binary';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type === '' || type === 'application/octet-stream') return /^\s*<(?:!doctype html|html|head|body)/i.test(Buffer.from(head).toString('latin1')) ? 'html' : 'text';
  return /^text\/|json|xml|javascript|yaml|toml|csv|markdown/.test(type) ? 'text' : 'binary';
};

const decoderOf = (label: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(label);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

/** The text in the encoding that the server or the page names; UTF-8 when neither does. */
export const decodePage = ({ contentType, bytes }: Pick<Page, 'contentType' | 'bytes'>): string => {
  const said = /charset\s*=\s*"?([\w:.-]+)/i.exec(contentType)?.[1];
  const inPage = said === undefined ? /<meta[^>]{0,200}?charset\s*=\s*["']?([\w:.-]+)/i.exec(Buffer.from(bytes.subarray(0, 2048)).toString('latin1'))?.[1] : undefined;
  return (decoderOf(said ?? inPage ?? 'utf-8') ?? new TextDecoder()).decode(bytes);
};

/** In a thread of its own: some pages are made to be slow, and none may hold up the others. The last thing it said is the best it had. */
const readable = async (request: ReadableRequest, { clock, slots }: PageTextOptions, signal: AbortSignal): Promise<ReadablePage> => {
  let page: ReadablePage | undefined;
  const task = { module: new URL('./readable-worker.ts', import.meta.url), data: request, timeoutMs, heapMb, clock, onMessage: (message: ReadablePage) => void (page = message) };
  const end = await slots.run(signal, () => runBoundedWorker(task, signal));
  if (page !== undefined) return page;
  const options = end.type === 'failed' ? { cause: end.cause } : undefined;
  throw new ToolError('failed', 'The page could not be turned into text. Ask for it with raw set to true to see its source.', options);
};

const refusals: Readonly<Record<Exclude<PageKind, 'html' | 'text'>, string>> = {
  pdf: 'is a PDF document, which cannot be read here. Download it with a command in the terminal and convert it to text.',
  image: 'is an image, which cannot be read here.',
  binary: 'is no text.',
};

/** The text of a page: readable markdown for HTML, everything else as it is. */
export const pageText = async (page: Page, options: PageTextOptions, signal: AbortSignal): Promise<PageText> => {
  const kind = pageKind(page);
  if (kind !== 'html' && kind !== 'text') throw new ToolError('failed', `${page.url.href} ${refusals[kind]}`);
  const text = decodePage(page);
  if (kind === 'text' || options.raw) return { title: undefined, text };
  const { title, markdown } = await readable({ html: text.slice(0, maxHtmlChars), url: page.url.href }, options, signal);
  return { title, text: markdown };
};
