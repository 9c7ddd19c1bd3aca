import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { editContent, relationOf, txnOf } from './compose.ts';
import { htmlOf, measureMatrix, mentionedIn, toHtml } from './format.ts';
import { matrix } from './index.ts';

describe('Markdown', () => {
  for (const [what, markdown, html] of [
    ['a line', 'plain words', 'plain words'],
    ['styles', '**b** _i_ ~~s~~ ||h|| `c<d`', '<strong>b</strong> <em>i</em> <del>s</del> <span data-mx-spoiler>h</span> <code>c&lt;d</code>'],
    ['a link', '[a & b](https://x.org/?a=1&b=2)', '<a href="https://x.org/?a=1&amp;b=2">a &amp; b</a>'],
    ['a link that no client follows', '[x](javascript:alert)', 'x (javascript:alert)'],
    ['paragraphs and lines', 'a\nb\n\nc', '<p>a<br>b</p><p>c</p>'],
    ['a heading', '## Title\ntext', '<h2>Title</h2><p>text</p>'],
    ['a list in a list', '- a\n  - b\n- [x] c', '<ul><li>a<ul><li>b</li></ul></li><li>☑ c</li></ul>'],
    ['a numbered list', '3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['code', '```ts\na < b\n```', '<pre><code class="language-ts">a &lt; b</code></pre>'],
    ['a quote', '> a\n> b', '<blockquote>a<br>b</blockquote>'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |', '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>'],
    ['HTML as text', '<script>x</script> & "q"', '&lt;script&gt;x&lt;/script&gt; &amp; &quot;q&quot;'],
    ['a person', 'ask @bob:x.org.', 'ask <a href="https://matrix.to/#/@bob:x.org">@bob:x.org</a>.'],
    ['an address that is no person', 'mail bob@x.org:80', 'mail bob@x.org:80'],
  ] as const) {
    it(`shows ${what}`, () => assert.equal(toHtml(markdown), html));
  }

  it('needs no HTML where that shows nothing more', () => {
    assert.equal(htmlOf('2 < 3 & "so on"\nsecond line'), undefined);
    assert.equal(htmlOf('**x**'), '<strong>x</strong>');
  });

  it('never lets through HTML that it has not made', () => {
    const tag = /^<\/?(?:a|p|br|strong|em|del|span|code|pre|h[1-6]|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|hr)(?: (?:href|class|start)="[^"<>]*"| data-mx-spoiler)?>$/;
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', '&', '*', '_', '`', '[', ']', '(', ')', '\n', '|', '#', '-', ' ', 'a', '@', ':', '/', '!') }), (markdown) => {
      for (const [found] of toHtml(markdown).matchAll(/<[^>]*>/g)) assert.match(found, tag);
    }));
  });
});

describe('an event', () => {
  it('is never too large, however a text of the limit is sent', () => {
    for (const unit of ['a', '&', '"', '**b** ', '世', '\u0001']) {
      let text = '';
      for (let next = unit; measureMatrix(next) <= matrix.limits.text; next = text + unit.repeat(Math.max(1, Math.floor((matrix.limits.text - measureMatrix(text)) / (2 * measureMatrix(unit)))))) text = next;
      const content = editContent('$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', { text }, { allow_room_mentions: false });
      const inside = Buffer.byteLength(JSON.stringify({ type: 'm.room.message', room_id: `!${'r'.repeat(254)}`, content }));
      // Encrypted it is base64 of this, with some keys around it; the homeserver adds hashes and signatures.
      assert.ok((inside * 4) / 3 + 4000 < 65_536, `${unit}: ${inside} bytes`);
    }
  });

  it('has a name that says nothing and stays the same', () => {
    assert.equal(txnOf('a', 'b'), txnOf('a', 'b'));
    assert.notEqual(txnOf('a', 'b'), txnOf('ab', ''));
    assert.match(txnOf('turn:1'), /^[\w-]{43}$/);
  });

  it('hangs where it belongs', () => {
    assert.deepEqual(relationOf({}, true), {});
    assert.deepEqual(relationOf({ replyTo: '$q' }, true), { 'm.relates_to': { 'm.in_reply_to': { event_id: '$q' } } });
    assert.deepEqual(relationOf({ replyTo: '$q' }, false), {});
    assert.deepEqual(relationOf({ threadId: '$t', replyTo: '$q' }, true), { 'm.relates_to': { rel_type: 'm.thread', event_id: '$t', is_falling_back: false, 'm.in_reply_to': { event_id: '$q' } } });
    assert.deepEqual(relationOf({ threadId: '$t' }, true), { 'm.relates_to': { rel_type: 'm.thread', event_id: '$t', is_falling_back: true, 'm.in_reply_to': { event_id: '$t' } } });
  });

  it('names people once each', () => assert.deepEqual(mentionedIn('@a:x.org @b:y.org:8448 @a:x.org a@c.org'), ['@a:x.org', '@b:y.org:8448']));
});

describe('a target', () => {
  for (const [ref, chat] of [
    ['!room:example.org', { chatId: '!room:example.org' }],
    ['!room:example.org:8448', { chatId: '!room:example.org:8448' }],
    ['!room:example.org:$ev', { chatId: '!room:example.org', threadId: '$ev' }],
    ['!room:example.org:$ev:old.example.org', { chatId: '!room:example.org', threadId: '$ev:old.example.org' }],
    ['!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM', { chatId: '!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM' }],
    ['team', undefined],
  ] as const) {
    it(`${ref} is ${chat === undefined ? 'a name' : 'a room'}`, () => assert.deepEqual(matrix.readChat?.(ref), chat));
  }
});
