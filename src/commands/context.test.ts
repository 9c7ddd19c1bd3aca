import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { noUsage } from '../core/transcript.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { insertCompression, noteCompressionFailure } from '../store/sessions/compressions.ts';
import { addTurnTotals } from '../store/sessions/turn-totals.ts';
import { createSession } from '../store/sessions/sessions.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { sampleCall } from './command-call.test-support.ts';
import { context } from './context.ts';

const exchange: readonly TranscriptMessage[] = [
  { role: 'user', content: 'Look it up, please.' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'read_file', arguments: '{}' }] },
  { role: 'tool', content: 'x'.repeat(40_000), toolCallId: 'c', toolName: 'read_file' },
  { role: 'assistant', content: 'There it is.' },
];

eachStore((_engine, open) => {
  test('/context says how much room there is, what takes it, and what was done about it', async () => {
    const { store } = await open();
    const ids = await store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' });
      const written: number[] = [];
      for (const message of exchange) written.push(await appendMessage(tx, { sessionId: 's1', turnId: null }, message));
      return written;
    });
    const show = (): Promise<string> => store.write((tx) => context.run(tx, sampleCall({ nowMs: Date.UTC(2026, 0, 1) })));
    assert.equal(await show(), ['**Used** about 10k tokens', '**Messages** 4 word for word, of 4', '- what people said: about 15 tokens', '- what I said: about 26 tokens', '- results of tools: about 10k tokens', '**Summarised** not yet'].join('\n'));
    await store.write(async (tx) => {
      const prompt = { tokens: 61_000, throughId: ids.at(-1) ?? 0 };
      await addTurnTotals(tx, 's1', { usage: noUsage, model: null, context: { prompt, facts: { window: 128_000, threshold: 90_000, system: 1200, tools: 3400 } } });
      await insertCompression(tx, 's1', { summary: 'x'.repeat(400), headThroughId: 0, throughId: 0, messages: 90, tokensBefore: 95_000, tokensAfter: 21_000, cause: 'threshold', how: 'static', model: null });
      await noteCompressionFailure(tx, 's1', { error: 'The model is overloaded right now.', ladderMs: [300_000] });
    });
    const text = await show();
    assert.match(text, /^\*\*Window\*\* 128k tokens\n\*\*Used\*\* about 61k tokens \(48%\)\n\*\*Summarised from\*\* 90k tokens on \(70%\)\n/);
    assert.match(text, /- system prompt: about 1200 tokens\n- tools: about 3400 tokens\n- summary: about 110 tokens\n/);
    assert.match(text, /\*\*Summarised\*\* once, last [^:]+: from about 95k to 21k tokens, as a plain list because no model could be asked\n⚠️ The last try to summarise did not work: The model is overloaded right now\. Tried again in 5 min\.$/);
  });
});
