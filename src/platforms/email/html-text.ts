import type { Clock } from '../../lib/clock.ts';
import { runBoundedWorker } from '../../lib/bounded-worker.ts';

const limits = { timeoutMs: 5_000, heapMb: 192 };

/** More of a mail than this is layout. */
const maxHtmlChars = 1_000_000;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The words between the tags, for a mail that is too much for a parser. */
const withoutTags = (html: string): string =>
  html
    .replace(/<(?:br|\/p|\/div|\/tr|\/li|\/h\d)\b[^<>]{0,200}>/gi, '\n')
    .replace(/<[^<>]{0,2000}>/g, '')
    .replace(/&(\w{2,4});/g, (whole, name: string) => entities[name] ?? whole)
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** The words of an HTML mail as markdown, without quoted history and signatures, in bounded time and memory whatever the HTML is. */
export const htmlToText = async (html: string, { whole, clock }: { readonly whole: boolean; readonly clock: Clock }, signal: AbortSignal): Promise<string> => {
  const source = html.slice(0, maxHtmlChars);
  let text: string | undefined;
  await runBoundedWorker<string>({ module: new URL('./html-worker.ts', import.meta.url), data: { html: source, whole }, ...limits, clock, onMessage: (words) => (text = words) }, signal);
  return text ?? withoutTags(source);
};
