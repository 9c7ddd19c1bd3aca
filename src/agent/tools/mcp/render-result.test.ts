import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderResult } from './render-result.ts';
import type { KeepFile } from './render-result.ts';

const describeOnly: KeepFile = async () => undefined;

test('every kind of content becomes text', async () => {
  const data = Buffer.from('abc').toString('base64');
  const text = await renderResult(
    {
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', data, mimeType: 'image/png' },
        { type: 'audio', data: Buffer.alloc(5000).toString('base64'), mimeType: 'audio/ogg' },
        { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'the first' },
        { type: 'resource', resource: { uri: 'file:///b', text: 'inside b' } },
        { type: 'resource', resource: { uri: 'file:///c', blob: data, mimeType: 'application/zip' } },
      ],
    },
    describeOnly,
  );
  assert.equal(
    text,
    [
      'hello',
      '[image, image/png, 3 bytes; not kept]',
      '[audio, audio/ogg, 5 KB; not kept]',
      '[resource a (file:///a): the first]',
      '[resource file:///b]\ninside b',
      '[resource file:///c, application/zip, 3 bytes; not kept]',
    ].join('\n\n'),
  );
});

test('structured content is told when no text tells it', async () => {
  assert.equal(await renderResult({ content: [], structuredContent: { celsius: 21 } }, describeOnly), '{"celsius":21}');
  assert.equal(await renderResult({ content: [{ type: 'text', text: '21 °C' }], structuredContent: { celsius: 21 } }, describeOnly), '21 °C');
  assert.equal(await renderResult({ content: [] }, describeOnly), '(no output)');
});

test('nothing in it is hidden from people', async () => {
  assert.equal(await renderResult({ content: [{ type: 'text', text: 'ok\u{e0069}\u{e0067}\u001b[31m\u200b done\ud800' }] }, describeOnly), 'ok done\ufffd');
});

test('it is bounded as a whole', async () => {
  const content = Array.from({ length: 5 }, () => ({ type: 'text' as const, text: 'x'.repeat(900_000) }));
  assert.ok((await renderResult({ content }, describeOnly)).length <= 1_000_000);
});
