import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { HttpEnv } from './client.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

interface Asset {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  readonly cache: string;
}

/** The built page, read once: it is small, and a request can then never name a file outside it. */
export type Page = ReadonlyMap<string, Asset>;

/** Names below `/assets/` carry a hash of their content. */
const cacheFor = (path: string): string => (path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');

/** An empty page when nothing has been built. */
export const loadPage = async (folder: string): Promise<Page> => {
  const page = new Map<string, Asset>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent)) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, file).split(sep).join('/')}`;
    const body = new Uint8Array(await readFile(file));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    page.set(path, { body, zipped: new Uint8Array(gzipSync(body)), type, etag, cache: cacheFor(path) });
  }
  return page;
};

const absent = (error: NodeJS.ErrnoException): never[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};

const answer = (c: Context<HttpEnv>, asset: Asset): Response => {
  const headers = { 'cache-control': asset.cache, etag: asset.etag, vary: 'accept-encoding' };
  if (c.req.header('if-none-match') === asset.etag) return c.body(null, 304, headers);
  const zips = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  return c.body(zips ? asset.zipped : asset.body, 200, { ...headers, 'content-type': asset.type, ...(zips && { 'content-encoding': 'gzip' }) });
};

const notBuilt = 'The page has not been built. Run `npm run build:web` in the package folder and start again; everything else works without it.\n';

/** Files of the page; `/` and `/login` are the page itself, and nothing else falls back to it. */
export const pageRoutes = (page: Page): Hono<HttpEnv> => {
  const routes = new Hono<HttpEnv>();
  routes.get('*', async (c, next) => {
    const isPage = c.req.path === '/' || c.req.path === '/login';
    const asset = page.get(isPage ? '/index.html' : c.req.path);
    if (asset !== undefined) return answer(c, asset);
    return isPage ? c.text(notBuilt, 503) : next();
  });
  return routes;
};
