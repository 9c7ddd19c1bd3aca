import { recordOf } from '../../../models/wires/json-fields.ts';
import { jsonCall } from './contract.ts';
import type { SearchBackend } from './contract.ts';
import { readResults } from './read-results.ts';

/** https://docs.exa.ai/reference/search */
export const exa: SearchBackend = {
  baseUrl: 'https://api.exa.ai',
  call: ({ query, limit, baseUrl, apiKey }) => jsonCall(`${baseUrl}/search`, { 'x-api-key': apiKey }, { query, numResults: limit, contents: { text: { maxCharacters: 600 } } }),
  results: (json) => readResults(recordOf(json)?.['results'], { url: 'url', snippet: 'text' }),
};
