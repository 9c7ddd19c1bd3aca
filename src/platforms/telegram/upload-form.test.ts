import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { newTransport } from './transport.ts';
import { attached, newUploadForm } from './upload-form.ts';

let folder = '';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'hermes-form-'));
});

after(() => rmSync(folder, { recursive: true }));

test('a form carries the fields as they are, what is nested as JSON, and each file under the name that the payload gives it', async () => {
  const files = ['first', 'zweite größere'].map((text, index) => {
    const path = join(folder, `${index}.txt`);
    writeFileSync(path, text);
    return { path, name: `${index} ü.txt` };
  });
  const media = files.map((_, index) => ({ type: 'document', media: attached(index) }));
  const form = newUploadForm({ chat_id: '7', quiet: true, missing: undefined, media }, files);
  const read = await new Response(Readable.toWeb(form.body) as ReadableStream<Uint8Array>, { headers: form.headers }).formData();
  assert.deepEqual([...read.keys()], ['chat_id', 'quiet', 'media', 'file0', 'file1']);
  assert.deepEqual([read.get('chat_id'), read.get('quiet'), read.get('media')], ['7', 'true', JSON.stringify(media)]);
  const sent = [read.get('file0'), read.get('file1')] as File[];
  assert.deepEqual(sent.map(({ name }) => name), ['0 ü.txt', '1 ü.txt']);
  assert.deepEqual(await Promise.all(sent.map((file) => file.text())), ['first', 'zweite größere']);
});

test('a call whose file is gone fails for that reason, and never becomes whole for whoever reads it', async () => {
  let whole = 0;
  const server = createServer((request) => request.on('end', () => (whole += 1)).on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const form = newUploadForm({ photo: attached(0) }, [{ path: join(folder, 'gone.png'), name: 'gone.png' }]);
  await assert.rejects(newTransport({ root, silenceMs: 5000 }).ask(`${root}/bot1:secret/sendPhoto`, form), { code: 'ENOENT', syscall: 'open' });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  assert.equal(whole, 0);
});
