import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { loadPage, pageRoutes } from './page.ts';

const build = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'dist', 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.html'), 'secret');
  await writeFile(join(folder, 'dist', 'index.html'), '<!doctype html>page');
  await writeFile(join(folder, 'dist', 'assets', 'index-abc.js'), 'let x;');
  await writeFile(join(folder, 'dist', '.built-from'), 'stamp');
};

test('the page is served with its files, and nothing beside it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-page-'));
  t.after(() => rm(folder, { recursive: true }));
  await build(folder);
  const routes = pageRoutes(await loadPage(join(folder, 'dist')));
  for (const path of ['/', '/login', '/index.html']) {
    const answer = await routes.request(path);
    assert.equal(await answer.text(), '<!doctype html>page', path);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
  }
  const asset = await routes.request('/assets/index-abc.js');
  assert.equal(await asset.text(), 'let x;');
  assert.match(asset.headers.get('cache-control') ?? '', /immutable/);
  for (const path of ['/nowhere', '/.built-from', '/..%2fsecret.html', '/%2e%2e/secret.html', '/assets/']) assert.equal((await routes.request(path)).status, 404, path);
});

test('a browser that has a file is told so, and one that unpacks gets it packed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-page-'));
  t.after(() => rm(folder, { recursive: true }));
  await build(folder);
  const routes = pageRoutes(await loadPage(join(folder, 'dist')));
  const etag = (await routes.request('/')).headers.get('etag') ?? '';
  assert.equal((await routes.request('/', { headers: { 'if-none-match': etag } })).status, 304);
  const packed = await routes.request('/', { headers: { 'accept-encoding': 'gzip, br' } });
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.equal(gunzipSync(await packed.bytes()).toString(), '<!doctype html>page');
});

test('without a built page there is a sentence about it', async () => {
  const routes = pageRoutes(await loadPage('/nowhere/at/all'));
  const answer = await routes.request('/');
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), /npm run build:web/);
});
