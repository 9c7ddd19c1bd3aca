import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeUrl } from './safe-url.ts';

test('a link leads to the web or to a mailbox, nowhere else', () => {
  for (const url of ['https://example.com/a?b#c', 'http://127.0.0.1:8642/', 'mailto:a@example.com', 'HTTPS://EXAMPLE.COM/']) assert.equal(safeUrl(url), new URL(url).href, url);
  for (const url of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)', '\u0001javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', 'blob:https://x/1', '/relative', '//host/path', '#c/other', '']) {
    assert.equal(safeUrl(url), undefined, url);
  }
});
