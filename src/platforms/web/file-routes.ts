import { Hono } from 'hono';
import type { Context } from 'hono';
import { cleanMime, FileTooLarge, inlineTypes } from './files.ts';
import type { Files } from './files.ts';
import { parseRange } from './parse.ts';
import { fileNameHeader, fileTypeHeader, maxFileBytes } from './wire.ts';
import type { WireFile } from './wire.ts';

const decodeName = (header: string | undefined): string => {
  try {
    return decodeURIComponent(header ?? '');
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
};

/** Both spellings of a name, for old and new readers (RFC 6266). */
const disposition = (file: WireFile): string => {
  const how = inlineTypes.has(file.mime) ? 'inline' : 'attachment';
  const ascii = file.name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(file.name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${how}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
};

const headersOf = (file: WireFile): Record<string, string> => ({
  'content-type': file.mime,
  'content-disposition': disposition(file),
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, max-age=31536000, immutable',
  'accept-ranges': 'bytes',
});

const upload = async (c: Context, files: Files): Promise<Response> => {
  const tooLarge = () => c.json({ error: new FileTooLarge().message }, 413);
  if (Number(c.req.header('content-length') ?? 0) > maxFileBytes) return tooLarge();
  const body = c.req.raw.body;
  if (body === null) return c.json({ error: 'The file is empty.' }, 400);
  try {
    const file = await files.save(body, { name: decodeName(c.req.header(fileNameHeader)), mime: cleanMime(c.req.header(fileTypeHeader)) });
    return c.json(file);
  } catch (error) {
    if (error instanceof FileTooLarge) return tooLarge();
    throw error;
  }
};

const download = async (c: Context, files: Files): Promise<Response> => {
  const file = await files.find(c.req.param('id') ?? '');
  if (file === undefined) return c.json({ error: 'This file is gone.' }, 404);
  const range = parseRange(c.req.header('range'), file.sizeBytes);
  if (range === 'unsatisfiable') return c.body(null, 416, { 'content-range': `bytes */${file.sizeBytes}` });
  const headers = headersOf(file);
  if (range === undefined) return c.body(files.read(file.id), 200, { ...headers, 'content-length': String(file.sizeBytes) });
  return c.body(files.read(file.id, range), 206, {
    ...headers,
    'content-length': String(range.end - range.start + 1),
    'content-range': `bytes ${range.start}-${range.end}/${file.sizeBytes}`,
  });
};

/** `POST /` takes a file as a stream of octets, `GET /:id` gives it back, never as something a browser would run. */
export const fileRoutes = (files: Files): Hono => {
  const routes = new Hono();
  routes.post('/', (c) => upload(c, files));
  routes.get('/:id', (c) => download(c, files));
  return routes;
};
