import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patientClock } from '../../lib/patient-clock.test-support.ts';
import { htmlToText } from './html-text.ts';

const never = new AbortController().signal;
const textOf = (html: string, whole = false): Promise<string> => htmlToText(html, { whole, clock: patientClock }, never);

describe('the words of an HTML mail', () => {
  it('are markdown, without what nobody sees', async () => {
    assert.equal(await textOf('<html><head><title>x</title><style>p{}</style></head><body><h2>Hi</h2><p>a <b>b</b> <a href="https://example.org">link</a></p><ul><li>one</li></ul><div style="display:none">secret</div><script>1</script></body></html>'), '## Hi\n\na **b** [link](https://example.org)\n\n-   one');
    assert.equal(await textOf('<p>2 * 3 _x_ [y]</p><img alt="A cat" src="cid:1">'), '2 * 3 _x_ [y]\n\nA cat');
  });

  it('end where a client has wrapped the earlier mail, unless it is to be kept', async () => {
    for (const history of ['<div class="gmail_quote">old</div>', '<blockquote type="cite">old</blockquote>', '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg">From</div><p>old</p>', '<div class="moz-signature">old</div>']) {
      assert.equal(await textOf(`<p>new</p>${history}`), 'new');
      assert.match(await textOf(`<p>new</p>${history}`, true), /old/);
    }
    assert.equal(await textOf('<div class="gmail_quote">only this</div>'), 'only this');
  });

  it('are found also where the HTML is too deep for a parser', async () => {
    assert.match(await textOf(`${'<div>'.repeat(8_000)}deep down`), /deep down/);
  });
});
