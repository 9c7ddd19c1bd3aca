import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { follow, isReady, outbound, post, signal, start, withFolder } from './web.test-support.ts';
import { fileNameHeader, fileTypeHeader, maxFileBytes } from './wire.ts';
import type { WireFile } from './wire.ts';

const uploadFile = (url: string, bytes: Uint8Array<ArrayBuffer>, name: string, mime: string) =>
  fetch(`${url}/files`, { method: 'POST', headers: { 'content-type': 'application/octet-stream', [fileNameHeader]: encodeURIComponent(name), [fileTypeHeader]: mime }, body: bytes });

test('a file goes up, reaches the gateway and comes down again unchanged', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const file = (await (await uploadFile(page.url, bytes, '../räport "1".html', 'text/html')).json()) as WireFile;
    assert.deepEqual({ ...file, id: '' }, { id: '', name: 'räport "1".html', mime: 'text/html', sizeBytes: 60_000, kind: 'document' });
    await post(`${page.url}/chats/chat-one/messages`, { id: 'message-1', text: '', files: [file.id] });
    const media = page.gateway.events[0]?.media[0] ?? assert.fail('no media');
    assert.deepEqual(media, { kind: 'document', mime: 'text/html', name: 'räport "1".html', sizeBytes: 60_000, ref: { file: file.id } });
    const opened = (await page.adapter.media?.open(media, signal)) ?? assert.fail('no media');
    assert.deepEqual(new Uint8Array(await new Response(opened).arrayBuffer()), bytes);
    const down = await fetch(`${page.url}/files/${file.id}`);
    assert.deepEqual(new Uint8Array(await down.arrayBuffer()), bytes);
    assert.equal(down.headers.get('content-disposition'), 'attachment; filename="r_port _1_.html"; filename*=UTF-8\'\'r%C3%A4port%20%221%22.html');
    assert.equal(down.headers.get('content-security-policy'), "sandbox; default-src 'none'");
    const part = await fetch(`${page.url}/files/${file.id}`, { headers: { range: 'bytes=10-19' } });
    assert.equal(part.status, 206);
    assert.deepEqual(new Uint8Array(await part.arrayBuffer()), bytes.slice(10, 20));
    assert.equal((await fetch(`${page.url}/files/${file.id}`, { headers: { range: 'bytes=70000-' } })).status, 416);
    assert.equal((await fetch(`${page.url}/files/${encodeURIComponent('../data')}`)).status, 404);
  }));

test('only harmless images are shown inline', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const disposition = async (mime: string) => {
      const file = (await (await uploadFile(page.url, new Uint8Array(3), 'x', mime)).json()) as WireFile;
      return (await fetch(`${page.url}/files/${file.id}`)).headers.get('content-disposition')?.split(';')[0];
    };
    assert.equal(await disposition('image/png'), 'inline');
    assert.equal(await disposition('image/svg+xml'), 'attachment');
    assert.equal(await disposition('text/html'), 'attachment');
    assert.equal(await disposition('nonsense'), 'attachment');
  }));

test('a file beyond the limit is refused while it streams in, and leaves nothing behind', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const chunk = new Uint8Array(1024 * 1024);
    let left = maxFileBytes / chunk.length + 5;
    const body = new ReadableStream({ pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()) });
    const init = { method: 'POST', body, duplex: 'half', headers: { 'content-type': 'application/octet-stream' } };
    const answer = await fetch(`${page.url}/files`, init).then((response) => response.status, (error: TypeError) => error.name);
    assert.ok(answer === 413 || answer === 'TypeError', String(answer));
    assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith('file_')), []);
  }));

test('a file of ours is sent once and can be fetched', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const path = join(folder, 'chart.png');
    await writeFile(path, 'pixels');
    const media = [{ kind: 'photo', path, mime: 'image/png', name: 'chart.png' } as const];
    await page.adapter.send(outbound('key-1', 'Look', { media }), signal);
    await page.adapter.send(outbound('key-1', 'Look', { media }), signal);
    const [frame] = await follow(`${page.url}/events?after=0`, isReady);
    const files = frame !== undefined && 'entry' in frame && frame.entry.type === 'message' ? frame.entry.files : [];
    assert.deepEqual(files.map(({ id: _, ...facts }) => facts), [{ name: 'chart.png', mime: 'image/png', sizeBytes: 6, kind: 'photo' }]);
    assert.equal(await (await fetch(`${page.url}/files/${files[0]?.id}`)).text(), 'pixels');
    const gone = [{ kind: 'document', path: join(folder, 'gone'), mime: 'text/plain', name: 'gone' } as const];
    await assert.rejects(page.adapter.send(outbound('key-2', '', { media: gone }), signal), (error) => error instanceof PlatformError && error.code === 'not_found');
  }));
