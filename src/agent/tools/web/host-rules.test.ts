import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, isBlocked, isOpened, parseHostRule } from './host-rules.ts';

const opened = (url: string, ...rules: string[]): boolean => isOpened(hostOf(new URL(url)), rules);
const blocked = (url: string, ...rules: string[]): boolean => isBlocked(hostOf(new URL(url)), rules);

test('a host is opened by its name or address, by port if one is named, and what is below it only by a star', () => {
  assert.ok(opened('http://wiki.lan/', 'wiki.lan') && opened('http://WIKI.lan./x', 'wiki.LAN'));
  assert.ok(!opened('http://a.wiki.lan/', 'wiki.lan') && opened('http://a.wiki.lan/', '*.wiki.lan') && !opened('http://evilwiki.lan/', '*.wiki.lan'));
  assert.ok(opened('http://10.0.0.7:8080/', '10.0.0.7:8080') && !opened('http://10.0.0.7/', '10.0.0.7:8080') && opened('http://10.0.0.7:99/', '10.0.0.7'));
  assert.ok(opened('https://x.lan/', 'x.lan:443') && opened('http://0x7f.1/', '127.0.0.1'));
  assert.ok(opened('http://[::1]:3000/', '[::1]:3000') && opened('http://[::1]/', '::1') && !opened('http://[::1]:3000/', '[::1]:80'));
});

test('a closed host closes everything below it', () => {
  assert.ok(blocked('https://example.org/', 'example.org') && blocked('https://a.b.example.org./', 'example.org') && !blocked('https://notexample.org/', 'example.org'));
  assert.ok(blocked('https://EXAMPLE.org/', '*.example.org'));
});

test('what names no host is no rule', () => {
  assert.deepEqual(['', 'http://a', 'a/b', 'a b', 'u@h', 'a?b', '*.'].map(parseHostRule), Array.from({ length: 7 }, () => undefined));
});
