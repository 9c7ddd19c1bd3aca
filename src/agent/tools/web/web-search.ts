import { z } from 'zod';
import type { Clock } from '../../../lib/clock.ts';
import { markUntrusted } from '../../untrusted-text.ts';
import { ToolError } from '../contract.ts';
import type { Tool } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { brave } from './backends/brave.ts';
import type { SearchBackend, SearchCall, SearchResult } from './backends/contract.ts';
import { exa } from './backends/exa.ts';
import { searxng } from './backends/searxng.ts';
import { serper } from './backends/serper.ts';
import { tavily } from './backends/tavily.ts';
import { inTime } from './fetch-page.ts';
import { hostOf, isBlocked } from './host-rules.ts';
import type { WebOptions } from './options.ts';

const backends: Readonly<Record<Exclude<WebOptions['backend'], 'none'>, SearchBackend>> = { searxng, brave, tavily, exa, serper };

const maxResults = 5;
const maxAnswerBytes = 4 * 1024 * 1024;
const maxSnippetChars = 600;

const args = z.object({
  query: z.string().trim().min(1).max(400).describe('What to look for.'),
  limit: z.int().min(1).max(maxResults).default(maxResults).describe('Most results to show.'),
});

const statusProblem = (status: number): ToolError => {
  if (status === 401 || status === 403) return new ToolError('unavailable', 'The search service refused our key. The owner has to check `web.api_key`.');
  if (status === 402 || status === 432) return new ToolError('unavailable', 'The search service wants to be paid. The owner has to look at the account.');
  if (status === 429) return new ToolError('failed', 'The search service is limiting us. Try again later, or do without.');
  return new ToolError('failed', `The search service answered with status ${status}.`);
};

const readJson = async (response: Response): Promise<unknown> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxAnswerBytes) throw new ToolError('failed', 'The search service answered with too much.');
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ToolError('failed', 'The search service did not answer with JSON.', { cause: error });
  }
};

/** Redirects are not followed: the key goes to the service that was named, and nowhere else. */
const ask = async (call: SearchCall, signal: AbortSignal): Promise<unknown> => {
  try {
    const response = await fetch(call.url, { method: call.method, headers: call.headers, redirect: 'manual', signal, ...(call.body !== undefined && { body: call.body }) });
    if (!response.ok) {
      await response.body?.cancel();
      throw statusProblem(response.status);
    }
    return await readJson(response);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ToolError) throw error;
    throw new ToolError('failed', 'The search service cannot be reached. The owner has to check `web.base_url` and the network.', { cause: error });
  }
};

const oneLine = (text: string): string => text.replaceAll(/<\/?[a-z][^<>]{0,200}>/gi, '').replaceAll(/\s+/g, ' ').trim();

const listing = (results: readonly SearchResult[]): string =>
  results.map(({ title, url, snippet }, index) => [`${index + 1}. ${oneLine(title) || '(no title)'}`, `   ${url}`, `   ${oneLine(snippet).slice(0, maxSnippetChars).toWellFormed()}`].join('\n').trimEnd()).join('\n');

const mayShow = (result: SearchResult, blocked: readonly string[]): boolean => {
  const url = URL.parse(result.url);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && !isBlocked(hostOf(url), blocked);
};

const search = async (given: z.output<typeof args>, options: WebOptions, at: { readonly backend: SearchBackend; readonly clock: Clock; readonly signal: AbortSignal }): Promise<readonly SearchResult[]> => {
  const baseUrl = (options.base_url ?? at.backend.baseUrl ?? '').replace(/\/+$/, '');
  const call = at.backend.call({ ...given, baseUrl, apiKey: options.api_key ?? '' });
  const json = await inTime({ clock: at.clock, timeoutMs: options.timeout_ms, what: 'The search service' }, at.signal, (signal) => ask(call, signal));
  const results = at.backend.results(json);
  if (results === undefined) throw new ToolError('failed', 'The search service answered with something that is no list of results.');
  return results.filter((result) => mayShow(result, options.blocked_hosts)).slice(0, given.limit);
};

/** Nothing when no search service is configured. */
export const webSearch = (options: WebOptions): Tool | undefined => {
  if (options.backend === 'none') return undefined;
  const backend = backends[options.backend];
  return defineTool({
    name: 'web_search',
    description: 'Searches the web and lists titles, addresses and short extracts. Open what looks right with web_fetch.',
    args,
    parallelSafe: true,
    async run(given, { clock }, signal) {
      const results = await search(given, options, { backend, clock, signal });
      return results.length === 0 ? `Nothing found for ${JSON.stringify(given.query)}.` : markUntrusted(`web search for ${given.query}`, listing(results));
    },
  });
};
