import type { Clock } from '../../../lib/clock.ts';
import { newSlots } from '../../../lib/slots.ts';
import type { Tool } from '../contract.ts';
import type { Lookup } from './checked-url.ts';
import { systemLookup } from './fetch-page.ts';
import type { WebOptions } from './options.ts';
import { newPageCache } from './page-cache.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';

export interface WebToolsDeps {
  readonly clock: Clock;
  /** How names are resolved; by the system when left out. */
  readonly lookup?: Lookup;
}

/** The tools that reach the web; searching only when a service for it is configured. */
export const webTools = (options: WebOptions, deps: WebToolsDeps): readonly Tool[] => {
  const search = webSearch(options);
  return [webFetch(options, { lookup: deps.lookup ?? systemLookup, pages: newPageCache(deps.clock), slots: newSlots(2) }), ...(search === undefined ? [] : [search])];
};
