import { listOf, recordOf, textOf } from '../../../models/wires/json-fields.ts';
import type { SearchResult } from './contract.ts';

/** The entries of a list that have an address, by the names that a service uses. */
export const readResults = (list: unknown, names: { readonly url: string; readonly snippet: string }): readonly SearchResult[] | undefined =>
  listOf(list)?.flatMap((entry): SearchResult[] => {
    const fields = recordOf(entry);
    const url = textOf(fields?.[names.url]);
    return url === undefined ? [] : [{ title: textOf(fields?.['title']) ?? '', url, snippet: textOf(fields?.[names.snippet]) ?? '' }];
  });
