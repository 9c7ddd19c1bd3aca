import { z } from 'zod';
import type { ApiGate } from '../../gateway/api/api-gate.ts';
import type { Attachment } from '../../core/transcript.ts';
import { ApiError } from './api-error.ts';
import { paramOf } from './read-body.ts';

const textTypes: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);
const imageTypes: ReadonlySet<string> = new Set(['image_url', 'input_image']);

const part = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().nullish(), image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).nullish() });

/** What somebody says, in the words of either API. */
export const content = z.union([z.string(), z.array(part).max(1000)]);

export type Content = z.output<typeof content>;

type Part = z.output<typeof part>;

type Path = readonly PropertyKey[];

const unsupported = (type: string, path: Path): ApiError =>
  new ApiError(400, `Content of the type '${type.slice(0, 100)}' is not understood here; text and images are.`, { code: 'unsupported_content_type', param: paramOf(path) });

const imageUrl = ({ image_url }: Part, path: Path): string => {
  const url = typeof image_url === 'string' ? image_url : image_url?.url;
  if (url === undefined || !/^(?:https?:\/\/|data:)/i.test(url)) throw new ApiError(400, 'An image needs an http, https or data address.', { code: 'invalid_image_url', param: paramOf(path) });
  if (/^data:/i.test(url) && !/^data:image\//i.test(url)) throw unsupported(url.slice(5, 60).split(/[;,]/, 1)[0] ?? '', path);
  return url;
};

/** The words of a content. */
export const textOf = (said: Content | null | undefined, path: Path): string => {
  if (said === undefined || said === null) return '';
  if (typeof said === 'string') return said;
  const texts = said.map((each, index) => {
    if (each.type === 'refusal') return each.refusal ?? '';
    if (!textTypes.has(each.type)) throw unsupported(each.type, [...path, index, 'type']);
    if (each.text === undefined) throw new ApiError(400, 'This part has no text.', { code: 'invalid_content_part', param: paramOf([...path, index, 'text']) });
    return each.text;
  });
  return texts.join('\n');
};

/** The words of what a person says, and the addresses of the pictures beside them. */
export const wordsAndImages = (said: Content, path: Path): { readonly text: string; readonly images: readonly { readonly url: string; readonly path: Path }[] } => {
  if (typeof said === 'string') return { text: said, images: [] };
  const images = said.flatMap((each, index) => (imageTypes.has(each.type) ? [{ url: imageUrl(each, [...path, index, 'image_url']), path: [...path, index, 'image_url'] }] : []));
  return { text: textOf(said.filter((each) => !imageTypes.has(each.type)), path), images };
};

/** Brings the pictures home; throws the refusal for one that cannot be had. */
export const keepImages = async (images: readonly { readonly url: string; readonly path: Path }[], keep: { readonly gate: ApiGate; readonly sessionId: string; readonly signal: AbortSignal }): Promise<readonly Attachment[]> => {
  const kept: Attachment[] = [];
  for (const { url, path } of images) {
    const attachment = await keep.gate.saveImage({ sessionId: keep.sessionId, url }, keep.signal);
    if (attachment === undefined) throw new ApiError(400, 'There is no PNG, JPEG, GIF or WebP picture at this address.', { code: 'invalid_image_url', param: paramOf(path) });
    kept.push(attachment);
  }
  return kept;
};
