import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText, takeMention } from './text.ts';

test('what Slack writes in angle brackets is read as people see it', () => {
  for (const [mrkdwn, read] of [
    ['a &lt;b&gt; &amp;amp; c', 'a <b> &amp; c'],
    ['<https://example.org>', 'https://example.org'],
    ['<https://example.org|example.org>', 'https://example.org'],
    ['<https://example.org/?a=1&amp;b=2|here>', '[here](https://example.org/?a=1&b=2)'],
    ['<mailto:a@example.org|a@example.org>', 'a@example.org'],
    ['in <#C01|general> and <#C02>', 'in #general and <#C02>'],
    ['<@U01> and <@U02|bob>', '<@U01> and <@U02>'],
    ['<!here> <!subteam^S1|@team> <!date^1^{date}|yesterday>', '@here @team yesterday'],
    ['1 < 2', '1 < 2'],
  ] as const) assert.equal(readText(mrkdwn), read);
});

test('our own mention is taken off and others stay', () => {
  assert.deepEqual(takeMention('<@U1> hi', 'U1'), { text: 'hi', mentioned: true, forOthers: false });
  assert.deepEqual(takeMention('<@U1>: hi', 'U1'), { text: 'hi', mentioned: true, forOthers: false });
  assert.deepEqual(takeMention('what do you think, <@U1>?', 'U1'), { text: 'what do you think, ?', mentioned: true, forOthers: false });
  assert.deepEqual(takeMention('<@U2> hi', 'U1'), { text: '<@U2> hi', mentioned: false, forOthers: true });
  assert.deepEqual(takeMention('hi <@U2>', 'U1'), { text: 'hi <@U2>', mentioned: false, forOthers: false });
});

test('an indentation survives when the mention stands elsewhere', () => {
  assert.equal(takeMention('<@U1> run\n  this', 'U1').text, 'run\n  this');
});
