import { createHash } from 'node:crypto';

const responsePrefix = 'resp_';

/** The same item has the same id, streamed or looked up later, and its response can be told from it. */
export const itemId = (prefix: 'msg' | 'fc' | 'fco', responseId: string, name: string): string =>
  `${prefix}_${responseId.slice(responsePrefix.length)}${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;

/** The id of the response that an item belongs to; undefined for what is no id of ours. */
export const responseOfItem = (id: string): string | undefined => {
  const hex = /^(?:msg|fc|fco)_([0-9a-f]{28})[0-9a-f]{12}$/.exec(id)?.[1];
  return hex === undefined ? undefined : `${responsePrefix}${hex}`;
};
