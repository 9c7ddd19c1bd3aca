import { recordOf } from '../../../models/wires/json-fields.ts';
import type { SearchBackend } from './contract.ts';
import { readResults } from './read-results.ts';

/** https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
export const brave: SearchBackend = {
  baseUrl: 'https://api.search.brave.com',
  call: ({ query, limit, baseUrl, apiKey }) => ({
    url: `${baseUrl}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(limit) })}`,
    method: 'GET',
    headers: { 'accept': 'application/json', 'x-subscription-token': apiKey },
  }),
  // A search that finds nothing has no `web` at all.
  results: (json) => (recordOf(json)?.['type'] === 'search' ? (readResults(recordOf(recordOf(json)?.['web'])?.['results'], { url: 'url', snippet: 'description' }) ?? []) : undefined),
};
