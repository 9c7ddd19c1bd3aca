import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../test/vectors/silence.json' with { type: 'json' };
import { isSilenceNarration, isSilentReply, isSilentResult, mayBecomeSilent } from './silence.ts';

test('the four rules decide as in the original', async (t) => {
  for (const { id, in: text, out } of vectors.cases) {
    await t.test(id, () => {
      const decided = {
        interactive_silence: isSilentReply(text),
        autonomous_silence: isSilentResult(text),
        hold_while_streaming: mayBecomeSilent(text),
        narration_dropped_on_delivery: isSilenceNarration(text),
      };
      assert.deepEqual(decided, out);
    });
  }
});

test('every prefix of a silent reply is held back, so that nothing of it flashes up', () => {
  for (const reply of ['[SILENT]', 'NO_REPLY', 'no reply', '**NO_REPLY**', '*(silent)*', '.NO_REPLY', 'SILENT', '`[SILENT]`']) {
    assert.ok(isSilentReply(reply), reply);
    for (let end = 1; end <= reply.length; end += 1) assert.ok(mayBecomeSilent(reply.slice(0, end)), reply.slice(0, end));
  }
});

test('a sentence that talks about silence is delivered', () => {
  for (const text of ['No reply yet from the server.', 'Silent mode is on.', 'The answer is: no', 'silently', 'Nope', 'no response was expected, but one came', 'Silent.']) {
    assert.equal(isSilentReply(text), false, text);
    assert.equal(isSilentResult(text), false, text);
    assert.equal(isSilenceNarration(text), false, text);
  }
});

test('white space and case around a marker do not matter', () => {
  assert.ok(isSilentReply('\n  No_Reply \n'));
  assert.ok(isSilentResult(' [silent] '));
  assert.ok(isSilenceNarration(' (Silence) '));
});
