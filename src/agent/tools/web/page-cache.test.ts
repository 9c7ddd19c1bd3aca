import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../lib/clock.ts';
import { newPageCache } from './page-cache.ts';
import type { KeptPage } from './page-cache.ts';

const page = (text: string): KeptPage => ({ url: 'https://x.test/', title: undefined, text, cut: false });

test('a page is kept for ten minutes', async () => {
  const clock = manualClock();
  const pages = newPageCache(clock);
  pages.set('a', page('one'));
  await clock.advance(600_000);
  assert.equal(pages.get('a')?.text, 'one');
  await clock.advance(1);
  assert.equal(pages.get('a'), undefined);
});

test('the oldest pages go when there is too much, and a new version takes the place of the old', () => {
  const pages = newPageCache(manualClock());
  pages.set('a', page('a'.repeat(6_000_000)));
  pages.set('a', page('b'.repeat(4_000_000)));
  pages.set('b', page('b'.repeat(5_000_000)));
  assert.equal(pages.get('a')?.text[0], 'b');
  pages.set('c', page('c'.repeat(2_000_000)));
  assert.deepEqual([pages.get('a'), pages.get('b')?.text.length, pages.get('c')?.text.length], [undefined, 5_000_000, 2_000_000]);
});
