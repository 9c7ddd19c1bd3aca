import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerSubject, formatHtml, formatText, subjectFor } from './format.ts';

const body = (markdown: string): string => /<body[^>]*>\n(.*)\n<\/body>/s.exec(formatHtml(markdown))?.[1] ?? '';

describe('the HTML of a mail', () => {
  it('shows what the markdown says', () => {
    assert.equal(body('**bold** _soft_ ~~gone~~ `code`'), '<p><strong>bold</strong> <em>soft</em> <s>gone</s> <code>code</code></p>');
    assert.equal(body('# Title\n\ntwo\nlines'), '<h1>Title</h1>\n<p>two<br>lines</p>');
    assert.equal(body('- a\n- b\n  - c'), '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>');
    assert.equal(body('3. a\n4. b'), '<ol start="3"><li>a</li><li>b</li></ol>');
    assert.match(body('| a | b |\n|---|---|\n| 1 | 2 |'), /^<table[^>]*><tr><th[^>]*>a<\/th><th[^>]*>b<\/th><\/tr><tr><td[^>]*>1<\/td><td[^>]*>2<\/td><\/tr><\/table>$/);
    assert.match(body('```js\na < b\n```'), /^<pre[^>]*>a &lt; b<\/pre>$/);
    assert.match(body('> said'), /^<blockquote[^>]*><p>said<\/p><\/blockquote>$/);
  });

  it('lets nothing of the text become markup or a dangerous link', () => {
    assert.equal(body('<script>alert("x")</script> & co'), '<p>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; co</p>');
    assert.equal(body('[go](https://example.org/?a=1&b="2")'), '<p><a href="https://example.org/?a=1&amp;b=&quot;2&quot;">go</a></p>');
    assert.doesNotMatch(body('[go](javascript:alert(1)) ![x](data:text/html,hi)'), /href/);
  });
});

describe('the text of a mail', () => {
  it('has no markup, and the addresses of its links', () => {
    assert.equal(formatText('**Bold** see [this](https://example.org).\n\n- a\n- b'), 'Bold see this (https://example.org).\n\n• a\n• b');
    assert.equal(formatText('https://example.org'), 'https://example.org');
  });
});

describe('subjects', () => {
  it('of a new thread are the beginning of what is said', () => {
    assert.equal(subjectFor('## Daily **report**\n\nAll is well.'), 'Daily report');
    assert.equal(subjectFor(''), 'A message for you');
    const long = subjectFor('word '.repeat(50));
    assert.ok(long.length <= 71 && long.endsWith('word…'), long);
  });

  it('of answers say Re: once', () => {
    assert.deepEqual(['Plan', 'Re: Plan', 'RE: Plan', ''].map(answerSubject), ['Re: Plan', 'Re: Plan', 'RE: Plan', 'Re: your message']);
  });
});
