import { z } from 'zod';
import type { Slots } from '../../../lib/slots.ts';
import { markUntrusted } from '../../untrusted-text.ts';
import { ToolError } from '../contract.ts';
import type { Tool } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { fetchPage } from './fetch-page.ts';
import type { Lookup } from './checked-url.ts';
import type { WebOptions } from './options.ts';
import type { KeptPage, PageCache } from './page-cache.ts';
import { pageText } from './page-text.ts';

const args = z.object({
  url: z.string().min(1).max(4000).describe('The http or https address of the page.'),
  offset: z.int().min(0).default(0).describe('Characters to pass over, to go on in a long page.'),
  max_chars: z.int().min(500).max(50_000).default(20_000).describe('Most characters to show.'),
  raw: z.boolean().default(false).describe('Show the source of an HTML page instead of its readable text.'),
});
type FetchArgs = z.output<typeof args>;

/** Up to `chars` characters from `offset`, and never half of one. */
const part = (text: string, offset: number, chars: number): string => {
  const piece = text.slice(offset, offset + chars);
  return /[\uD800-\uDBFF]$/.test(piece) && offset + chars < text.length ? piece.slice(0, -1) : piece;
};

const answer = (page: KeptPage, { offset, max_chars: maxChars }: FetchArgs): string => {
  if (offset > 0 && offset >= page.text.length) throw new ToolError('bad_arguments', `The page has ${page.text.length} characters; offset ${offset} is beyond its end.`);
  const shown = part(page.text, offset, maxChars);
  const end = offset + shown.length;
  const title = page.title === undefined || offset > 0 ? '' : `# ${page.title}\n\n`;
  const notes = [
    ...(end < page.text.length ? [`[Characters ${offset}-${end} of ${page.text.length}. Continue with offset ${end}.]`] : []),
    ...(page.cut && end >= page.text.length ? ['[The page was too large; its end is missing.]'] : []),
  ];
  return [markUntrusted(page.url, shown.trim() === '' ? '(no text)' : title + shown), ...notes].join('\n');
};

export interface WebFetchDeps {
  readonly lookup: Lookup;
  readonly pages: PageCache;
  readonly slots: Slots;
}

export const webFetch = (options: WebOptions, { lookup, pages, slots }: WebFetchDeps): Tool =>
  defineTool({
    name: 'web_fetch',
    description: 'Opens a web page and shows it as readable text (markdown); JSON and plain text come as they are. Long pages come in parts: go on with `offset`. Pages of the private network and PDF files cannot be opened.',
    args,
    parallelSafe: true,
    async run(given, { clock, sessionId }, signal) {
      const key = [sessionId, given.url, given.raw].join('\0');
      const kept = given.offset > 0 ? pages.get(key) : undefined;
      if (kept !== undefined) return answer(kept, given);
      const limits = { maxBytes: Math.floor(options.max_download_mb * 1024 * 1024), timeoutMs: options.timeout_ms };
      const page = await fetchPage(given.url, { settings: options, limits, lookup, clock }, signal);
      const { title, text } = await pageText(page, { raw: given.raw, clock, slots }, signal);
      const fresh: KeptPage = { url: page.url.href, title, text, cut: page.cut };
      pages.set(key, fresh);
      return answer(fresh, given);
    },
  });
