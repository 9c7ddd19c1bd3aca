import { z } from 'zod';
import { defineSection } from '../../../config/section.ts';
import { parseHostRule } from './host-rules.ts';

const host = z.string().trim().refine((text) => parseHostRule(text) !== undefined, 'must be a host such as example.org, *.example.org or 192.168.1.10:8080');

const isPlainHttpUrl = (value: string): boolean => {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
};

const webOptions = z
  .strictObject({
    backend: z.enum(['none', 'searxng', 'brave', 'tavily', 'exa', 'serper']).default('none').describe('Who answers web searches. With `none` the agent can open pages but not search.'),
    base_url: z
      .string()
      .trim()
      .refine(isPlainHttpUrl, 'must be an http or https address without user name and password')
      .optional()
      .describe('Address of the search service. Needed for searxng; the others have one of their own.'),
    api_key: z
      .string()
      .trim()
      .regex(/^[\x21-\x7e]+$/, 'contains characters that cannot be part of a key')
      .optional()
      .describe('Key of the search service.')
      .meta({ env: 'WEB_SEARCH_API_KEY', secret: true }),
    allow_private_hosts: z.array(host).default([]).describe('Hosts of your own network that the agent may open, such as `wiki.lan`, `*.lan` or `192.168.1.10:8080`. All others there are closed.'),
    blocked_hosts: z.array(host).default([]).describe('Hosts that are never opened and left out of search results; what is below them too.'),
    timeout_ms: z.int().min(1000).max(120_000).default(30_000).describe('How long a page or a search may take.'),
    max_download_mb: z.number().min(0.1).max(50).default(5).describe('How much of a page is downloaded.'),
  })
  .superRefine((options, context) => {
    const { backend } = options;
    if (backend === 'none') return;
    if (backend === 'searxng' && options.base_url === undefined) context.addIssue({ code: 'custom', path: ['base_url'], message: 'backend searxng needs the address of your SearXNG: set web.base_url' });
    if (backend !== 'searxng' && options.api_key === undefined) context.addIssue({ code: 'custom', path: ['api_key'], message: `backend ${backend} needs a key: set web.api_key or WEB_SEARCH_API_KEY` });
  });

/** What the agent may open on the web, and how it searches. */
export const webSection = defineSection('web', webOptions.prefault({}), 'live');

export type WebOptions = z.output<typeof webOptions>;
