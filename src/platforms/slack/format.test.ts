import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import vectors from '../../../test/vectors/slack-mrkdwn.json' with { type: 'json' };
import { escapeSlack, formatMrkdwn, measureSlack } from './format.ts';
import { showMrkdwn, showPlain } from './simulator/mrkdwn.ts';

/** Where the original showed people the signs of the markup instead of what they mean. */
const better: Readonly<Record<string, string>> = {
  'bold-underscore': '*strong* words',
  image: '<https://example.org/i.png|alt>',
  'newline-bold': '*a*\n*b*',
  checkbox: '☐ todo\n☑ done',
};

describe('mrkdwn', () => {
  for (const { id, in: markdown, out } of vectors.cases) {
    test(`${id} is written as the original writes it${id in better ? ', or better' : ''}`, () => {
      assert.equal(formatMrkdwn(markdown), better[id] ?? out);
    });
  }

  test('headings are bold, also when they were bold already', () => {
    assert.equal(formatMrkdwn('# One\n## **Two**'), '*One*\n*Two*');
  });

  test('people and channels can be called by their ids, but never everybody', () => {
    assert.equal(formatMrkdwn('ask <@U0123ABCD> in <#C0123ABCD>'), 'ask <@U0123ABCD> in <#C0123ABCD>');
    for (const call of ['<!here>', '<!channel>', '<!everyone>', '<!subteam^S123>', '**<!here>**', '[x](<!here>)', '`<!here>`', '```\n<!here>\n```', '[<!here>](https://example.org)']) assert.doesNotMatch(formatMrkdwn(call), /<!/, call);
  });

  test('signs that would become markup by accident are kept apart by a sign that nobody sees', () => {
    for (const [markdown, shown] of [['\\*a\\* \\_b\\_', '*a* _b_'], ['~x~ y', '~x~ y'], ['2 * 3 * 4', '2 * 3 * 4']] as const) assert.equal(showMrkdwn(formatMrkdwn(markdown)), shown);
  });

  test('code is shown exactly', () => {
    assert.equal(showMrkdwn(formatMrkdwn('`a < b && *c*`')), 'a < b && *c*');
    assert.equal(showMrkdwn(formatMrkdwn('```ts\nif (a < b) { /* _x_ */ }\n```')), 'if (a < b) { /* _x_ */ }');
  });

  test('links keep their address, whatever stands in it', () => {
    assert.equal(formatMrkdwn('[a|b](https://example.org/?x=1&y=a|b)'), '<https://example.org/?x=1&amp;y=a%7Cb|a b>');
    assert.equal(formatMrkdwn('[local](/tmp/x)'), 'local (/tmp/x)');
  });

  test('a table is drawn in columns, by the width that people see', () => {
    assert.equal(formatMrkdwn('| name | v |\n|---|---|\n| 世界 | **1** |'), '```\n| name | v   |\n| ---- | --- |\n| 世界 | 1   |\n```');
  });

  test('whatever a model writes calls nobody together, and what is escaped comes back as it was', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('<', '>', '!', '|', '&', '*', '_', '~', '`', '[', ']', '(', ')', 'here', 'a', ' ', '\n', '#', '-') }), (source) => !/<!/.test(formatMrkdwn(source))));
    fc.assert(fc.property(fc.string(), (source) => showPlain(escapeSlack(source)) === source));
  });

  test('the measure is the length of what is sent', () => {
    assert.equal(measureSlack('a & b'), 'a &amp; b'.length);
    assert.equal(measureSlack('😀'), 2);
  });
});
