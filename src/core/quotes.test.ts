import assert from 'node:assert/strict';
import { test } from 'node:test';
import { earlierHead, quotedEarlier, quotedReply, withoutQuotesOf } from './quotes.ts';

test('what is quoted of somebody is replaced wherever it is quoted, and nothing else', () => {
  const content = [`[Bob] ${quotedReply('Ann (x)', 'say "hi"]\nthere')}`, quotedReply('Anna', 'kept'), `${earlierHead}\n${quotedEarlier('Ann (x)', 'first')}\n${quotedEarlier('Bob', 'kept')}\n${quotedEarlier('Ann (x)', 'last')}]`, 'Ann (x) said so'].join('\n');
  const left = withoutQuotesOf('Ann (x)', content, 'gone');
  assert.equal(left, ['[Bob] [In reply to a message by somebody: "gone"]', '[In reply to a message by Anna: "kept"]', '[Said in this thread before:\nsomebody: "gone"\nBob: "kept"\nsomebody: "gone"]', 'Ann (x) said so'].join('\n'));
  assert.equal(withoutQuotesOf('Ann', 'Ann: "a play"\nBob: "with lines"', 'gone'), 'Ann: "a play"\nBob: "with lines"');
});
