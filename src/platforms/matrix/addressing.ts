import type { Identity } from '../contract.ts';
import type { MatrixOptions } from './options.ts';
import { record, text, texts } from './wire.ts';
import type { Json } from './wire.ts';

export interface Addressed {
  /** Without our own mention at either end. */
  readonly text: string;
  readonly mentioned: boolean;
}

const escapeRegExp = (words: string): string => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const pillOf = (html: string, userId: string): boolean => {
  const wanted = userId.toLowerCase();
  return [...html.matchAll(/href\s*=\s*["']https:\/\/matrix\.to\/#\/([^"'?]+)/gi)].some(([, target = '']) => decodeSafely(target).toLowerCase() === wanted);
};

const decodeSafely = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
};

/**
 * Decides whether a message is for us: by the ids that it names, where its client names them; otherwise by a pill or our full id.
 * Our name in the text alone decides nothing, because anybody may have it.
 */
export const newAddressing = (identity: Identity, options: Pick<MatrixOptions, 'mention_patterns'>): ((body: string, content: Json) => Addressed) => {
  const { id, name } = identity;
  const localpart = id.slice(1).split(':', 1)[0] ?? '';
  const names = [id, `@${name}`, name, `@${localpart}`, localpart].filter((each) => each !== '' && each !== '@').map(escapeRegExp);
  const leading = new RegExp(`^\\s*(?:${names.join('|')})(?![\\p{L}\\p{N}_])[\\s,:]*`, 'iu');
  const trailing = new RegExp(`[\\s,]*(?:${escapeRegExp(id)})\\s*$`, 'iu');
  const patterns = options.mention_patterns.map((pattern) => new RegExp(pattern, 'i'));

  return (body, content) => {
    const mentions = record(content['m.mentions']);
    const html = text(content['formatted_body']) ?? '';
    const named = mentions === undefined ? pillOf(html, id) || body.toLowerCase().includes(id.toLowerCase()) : texts(mentions['user_ids']).includes(id);
    const mentioned = named || patterns.some((pattern) => pattern.test(body));
    if (!named) return { text: body, mentioned };
    return { text: body.replace(leading, '').replace(trailing, '') || body, mentioned };
  };
};
