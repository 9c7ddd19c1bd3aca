import { recordOf } from '../../../models/wires/json-fields.ts';
import { jsonCall } from './contract.ts';
import type { SearchBackend } from './contract.ts';
import { readResults } from './read-results.ts';

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
export const tavily: SearchBackend = {
  baseUrl: 'https://api.tavily.com',
  call: ({ query, limit, baseUrl, apiKey }) => jsonCall(`${baseUrl}/search`, { authorization: `Bearer ${apiKey}` }, { query, max_results: limit }),
  results: (json) => readResults(recordOf(json)?.['results'], { url: 'url', snippet: 'content' }),
};
