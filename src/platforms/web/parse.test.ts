import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanMime, cleanName, kindOf } from './files.ts';
import { parseCursor, parseRange, replyContext } from './parse.ts';
import type { JournalFrame } from './wire.ts';

test('a cursor is a plain number and nothing else', () => {
  assert.equal(parseCursor('17'), 17);
  for (const text of [undefined, '', '-1', '1.5', '1e3', 'x', '9'.repeat(16)]) assert.equal(parseCursor(text), undefined, String(text));
});

test('a single range of bytes is understood, everything else means the whole file', () => {
  assert.deepEqual(parseRange('bytes=0-9', 100), { start: 0, end: 9 });
  assert.deepEqual(parseRange('bytes=90-', 100), { start: 90, end: 99 });
  assert.deepEqual(parseRange('bytes=-10', 100), { start: 90, end: 99 });
  assert.deepEqual(parseRange('bytes=50-500', 100), { start: 50, end: 99 });
  assert.deepEqual(parseRange('bytes=-500', 100), { start: 0, end: 99 });
  assert.equal(parseRange('bytes=100-', 100), 'unsatisfiable');
  assert.equal(parseRange('bytes=9-5', 100), 'unsatisfiable');
  for (const header of [undefined, 'bytes=-', 'bytes=0-1,5-6', 'lines=1-2']) assert.equal(parseRange(header, 100), undefined, String(header));
});

test('a reply knows the latest words of the message it answers', () => {
  const frame = (seq: number, entry: JournalFrame['entry']): JournalFrame => ({ seq, chat: 'c', atMs: 0, entry });
  const frames = [
    frame(1, { type: 'message', id: 'mine', from: 'owner', text: 'Question', files: [], choices: [] }),
    frame(2, { type: 'message', id: 'a2', from: 'agent', text: 'Ans', files: [], choices: [] }),
    frame(3, { type: 'edit', id: 'a2', text: 'Answer', choices: [] }),
  ];
  assert.deepEqual(replyContext('a2', frames), { messageId: 'a2', isOwn: true, text: 'Answer' });
  assert.deepEqual(replyContext('mine', frames), { messageId: 'mine', isOwn: false, text: 'Question' });
  assert.deepEqual(replyContext('old', frames), { messageId: 'old', isOwn: false });
});

test('a file name keeps its last part and loses what could mislead', () => {
  assert.equal(cleanName('../../etc/passwd'), 'passwd');
  assert.equal(cleanName('C:\\Users\\me\\notes.txt'), 'notes.txt');
  assert.equal(cleanName('in\u202Evoice\u0000.pdf\n'), 'invoice.pdf');
  assert.equal(cleanName('..'), 'file');
  assert.equal(cleanName(''), 'file');
  assert.equal([...cleanName(`${'😀'.repeat(200)}.txt`)].length, 120);
});

test('a type is taken only when it looks like one, and decides what is shown', () => {
  assert.equal(cleanMime('Text/HTML; charset=utf-8'), 'text/html');
  for (const mime of [undefined, '', 'text', 'a/b/c', 'text/html\r\nx: y']) assert.equal(cleanMime(mime), 'application/octet-stream', String(mime));
  assert.deepEqual(['image/png', 'image/svg+xml', 'audio/ogg', 'video/mp4', 'text/plain'].map(kindOf), ['photo', 'document', 'audio', 'video', 'document']);
});
