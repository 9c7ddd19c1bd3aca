import { recordOf } from '../../../models/wires/json-fields.ts';
import { jsonCall } from './contract.ts';
import type { SearchBackend } from './contract.ts';
import { readResults } from './read-results.ts';

/** https://serper.dev */
export const serper: SearchBackend = {
  baseUrl: 'https://google.serper.dev',
  call: ({ query, limit, baseUrl, apiKey }) => jsonCall(`${baseUrl}/search`, { 'x-api-key': apiKey }, { q: query, num: limit }),
  results: (json) => readResults(recordOf(json)?.['organic'], { url: 'link', snippet: 'snippet' }),
};
