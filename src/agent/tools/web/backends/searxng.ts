import { recordOf } from '../../../models/wires/json-fields.ts';
import type { SearchBackend } from './contract.ts';
import { readResults } from './read-results.ts';

/** https://docs.searxng.org/dev/search_api.html; the JSON format has to be switched on there. */
export const searxng: SearchBackend = {
  call: ({ query, baseUrl, apiKey }) => ({
    url: `${baseUrl}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
    method: 'GET',
    headers: { accept: 'application/json', ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }) },
  }),
  results: (json) => readResults(recordOf(json)?.['results'], { url: 'url', snippet: 'content' }),
};
