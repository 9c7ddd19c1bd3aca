import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { newSite, webOptions } from '../agent/tools/web/web.test-support.ts';
import { manualClock, systemClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { newFetchImage } from './fetch-image.ts';
import { prepareText } from './prepare-text.ts';
import type { PrepareDeps, Prepared } from './prepare-text.ts';
import { openSendable } from './sendable-files.ts';

const never = new AbortController().signal;
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==', 'base64');

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  readonly mediaFolder: string;
  readonly lines: readonly string[];
  prepare(text: string, more?: Partial<PrepareDeps>): Promise<Prepared>;
}

const newPlace = async (): Promise<Place> => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'hermes-prepare-')));
  const [workspace, mediaFolder] = [join(home, 'workspace'), join(home, 'media')];
  await mkdir(workspace);
  await writeFile(join(workspace, 'chart.png'), pixel);
  await writeFile(join(workspace, 'note.ogg'), 'OggS');
  await writeFile(join(workspace, 'empty.txt'), '');
  await writeFile(join(home, 'config.yaml'), 'model: {api_key: sk-secret}');
  const { log, lines } = capturingLogger();
  const deps: PrepareDeps = {
    clock: manualClock(),
    log,
    mediaFolder,
    maxBytes: 1000,
    open: (path) => openSendable(path, { home, agentHome: home, userHome: home, workdir: workspace, roots: [workspace] }),
    sendsFiles: () => true,
    platform: () => telegram as Platform,
  };
  return {
    home,
    workspace,
    mediaFolder,
    lines,
    prepare: (text, more) => prepareText(text, 'telegram', { deps: { ...deps, ...more }, signal: never }),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
};

test('a text without files goes as it is', async () => {
  await using place = await newPlace();
  assert.deepEqual(await place.prepare('Hello **you**.\n'), { text: 'Hello **you**.\n' });
});

test('files are copied below the media folder, as what people see them, and the tags are gone', async () => {
  await using place = await newPlace();
  const prepared = await place.prepare(`Here:\nMEDIA:${place.workspace}/chart.png\nMEDIA:~/workspace/note.ogg\n[[audio_as_voice]]`);
  assert.equal(prepared.text, 'Here:');
  assert.deepEqual(prepared.media?.map(({ kind, mime, name }) => [kind, mime, name]), [['photo', 'image/png', 'chart.png'], ['voice', 'audio/ogg', 'note.ogg']]);
  for (const { path } of prepared.media ?? []) {
    assert.ok(path.startsWith(join(place.mediaFolder, 'outgoing', '2026-01')));
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  }
  assert.deepEqual(await readFile(prepared.media?.[0]?.path ?? ''), pixel);
  const asFile = await place.prepare(`[[as_document]] MEDIA:${place.workspace}/chart.png`);
  assert.deepEqual([asFile.text, asFile.media?.map(({ kind }) => kind)], ['', ['document']]);
});

test('what may not be sent, by whatever path, is said and stays here', async () => {
  await using place = await newPlace();
  const { workspace, home } = place;
  await symlink(join(home, 'config.yaml'), join(workspace, 'link.txt'));
  await link(join(home, 'config.yaml'), join(workspace, 'hard.txt'));
  await writeFile(join(workspace, '.env'), 'KEY=1');
  await writeFile(join(workspace, 'large.bin'), Buffer.alloc(2000));
  await mkdir(join(workspace, 'folder.txt'));
  const refusals: readonly (readonly [string, RegExp])[] = [
    [`${home}/config.yaml`, /`config\.yaml` could not be attached: it lies outside the folders whose files may be sent/],
    [`${workspace}/../config.yaml`, /outside the folders/],
    [`${workspace}/link.txt`, /`link\.txt` could not be attached: it lies outside/],
    [`${workspace}/hard.txt`, /`hard\.txt` could not be attached/],
    ['/etc/passwd', /outside the folders/],
    [`"${workspace}/.env"`, /holds credentials/],
    [`${workspace}/large.bin`, /larger than 0 MB/],
    [`${workspace}/empty.txt`, /it is empty/],
    [`${workspace}/folder.txt`, /is a folder/],
    [`${workspace}/gone.png`, /does not exist/],
  ];
  for (const [path, reason] of refusals) {
    const prepared = await place.prepare(`Look: MEDIA:${path}`);
    assert.equal(prepared.media, undefined, path);
    assert.match(prepared.text, reason, path);
    assert.match(prepared.text, /^Look:\n\n⚠️/);
    assert.doesNotMatch(prepared.text, /sk-secret/);
  }
});

test('a folder around the home does not open the home', async () => {
  await using place = await newPlace();
  const { home, workspace } = place;
  await writeFile(join(home, 'diary.txt'), 'private');
  const around = (roots: readonly string[]): Partial<PrepareDeps> => ({ open: (path) => openSendable(path, { home, agentHome: home, userHome: home, workdir: workspace, roots }) });
  for (const roots of [[tmpdir()], [home]]) assert.match((await place.prepare(`MEDIA:${home}/diary.txt`, around(roots))).text, /outside the folders/);
  assert.equal((await place.prepare(`MEDIA:${workspace}/chart.png`, around([tmpdir(), workspace]))).media?.length, 1);
});

test('pictures that are only named are attached where they can be, and nothing is said where they cannot', async () => {
  await using place = await newPlace();
  const text = `Saved to ${place.workspace}/chart.png, not to ${place.home}/other.png.`;
  const prepared = await place.prepare(text);
  assert.deepEqual([prepared.text, prepared.media?.map(({ name }) => name)], [text, ['chart.png']]);
});

test('only so many files go with one answer, and the rest is named', async () => {
  await using place = await newPlace();
  const names = Array.from({ length: 12 }, (_, i) => `${place.workspace}/f${i}.txt`);
  for (const name of names) await writeFile(name, 'x');
  const prepared = await place.prepare(names.map((name) => `MEDIA:${name}`).join('\n'));
  assert.equal(prepared.media?.length, 10);
  assert.match(prepared.text, /`f10\.txt` could not be attached: at most 10[\s\S]*`f11\.txt`/);
});

test('where no files can be sent they are named', async () => {
  await using place = await newPlace();
  const prepared = await place.prepare(`Here.\nMEDIA:${place.workspace}/chart.png\n![a cat](https://e.org/cat.png)`, { sendsFiles: () => false });
  assert.deepEqual(prepared, { text: 'Here.\n\n📎 `chart.png` (files cannot be sent here)\n[a cat](https://e.org/cat.png)' });
});

test('pictures on the web are fetched where that is allowed, and stay links otherwise', async () => {
  await using place = await newPlace();
  await using site = await newSite((request, response) => {
    if (request.url === '/cat.png') response.writeHead(200, { 'content-type': 'image/png' }).end(pixel);
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<p>no picture</p>');
  });
  const address = `http://127.0.0.1:${site.port}`;
  const opened = newFetchImage(() => webOptions({ allow_private_hosts: [`127.0.0.1:${site.port}`] }), { clock: systemClock });
  const fetched = await place.prepare(`![cat](${address}/cat.png) and ![dog](${address}/dog.png)`, { fetchImage: opened });
  assert.deepEqual([fetched.text, fetched.media?.map(({ kind, name }) => [kind, name])], [`and\n\n[dog](${address}/dog.png)`, [['photo', 'cat.png']]]);
  const closed = newFetchImage(() => webOptions(), { clock: systemClock });
  const refused = await place.prepare(`![cat](${address}/cat.png)`, { fetchImage: closed });
  assert.deepEqual(refused, { text: `[cat](${address}/cat.png)` }, 'the private network is not reached');
  assert.deepEqual(await place.prepare(`![](${address}/cat.png)`), { text: `[cat.png](${address}/cat.png)` });
});

const terse: Platform = { ...(telegram as Platform), limits: { ...(telegram as Platform).limits, text: 200, measure: (text) => text.length, mostParts: 2 } };

test('a text that would need too many messages becomes a file, or a beginning that names one', async () => {
  await using place = await newPlace();
  const long = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ');
  const sent = await place.prepare(long, { platform: () => terse });
  assert.ok(sent.text.startsWith('word0 word1') && sent.text.length <= 200);
  assert.match(sent.text, /The whole text is in the file\.$/);
  assert.equal(await readFile(sent.media?.[0]?.path ?? '', 'utf8'), long);
  const kept = await place.prepare(long, { platform: () => ({ ...terse, limits: { ...terse.limits, text: 400 } }), sendsFiles: () => false });
  assert.equal(kept.media, undefined);
  assert.equal(await readFile(/lies in (\S+) on the gateway/.exec(kept.text)?.[1] ?? '', 'utf8'), long);
  const fits = long.slice(0, 300);
  assert.deepEqual(await place.prepare(fits, { platform: () => terse }), { text: fits });
});

test('a disk that takes no file costs the file and never the text', async () => {
  await using place = await newPlace();
  await writeFile(place.mediaFolder, 'in the way');
  const long = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ');
  assert.deepEqual(await place.prepare(long, { platform: () => terse }), { text: long });
  const prepared = await place.prepare(`Here MEDIA:${place.workspace}/chart.png`);
  assert.deepEqual([prepared.text, prepared.media], ['Here\n\n⚠️ `chart.png` could not be attached: something went wrong on my side.', undefined]);
  assert.ok(place.lines.some((line) => line.includes('media.not_attached')));
});
