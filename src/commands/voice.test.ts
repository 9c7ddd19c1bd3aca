import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { sampleTarget } from '../../test/support/samples.ts';
import { findSession } from '../store/sessions/sessions.ts';
import { giveUpSpeech, planSpeech } from '../store/agents/speech-work.ts';
import type { Store } from '../store/store.ts';
import { begin, sampleCall, sampleReach } from './command-call.test-support.ts';
import type { Reach } from './reach.ts';
import { voice } from './voice.ts';

const able = { voice: () => ({ hears: true, speaks: true, usual: 'voice_only' as const }), sendsFiles: () => true };

const give = (store: Store, args: string, reach: Partial<Reach> = able): Promise<string> => store.write((tx) => voice.run(tx, sampleCall({ args, reach: sampleReach(reach) })));

const mode = async (store: Store): Promise<string | undefined> => (await store.read((db) => findSession(db, 's1')))?.settings.voice;

eachStore((_engine, open) => {
  test('a conversation has its answers spoken as it wants', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, ''), /^In this conversation who speaks to me also hears my answer\.\nVoice messages are written down/);
    for (const [word, kept] of [['tts', 'all'], ['ON', 'voice_only'], ['off', 'off'], ['all', 'all'], ['voice_only', 'voice_only']] as const) {
      await give(store, word);
      assert.equal(await mode(store), kept, word);
    }
    assert.match(await give(store, 'status'), /who speaks to me also hears/);
    assert.equal(await give(store, 'louder'), '“louder” is none of on, off, tts and status.');
    assert.equal(await give(store, 'constructor'), '“constructor” is none of on, off, tts and status.');
    assert.equal(await mode(store), 'voice_only');
  });

  test('what is missing is named, and nothing is promised', async () => {
    const { store } = await open();
    await begin(store);
    const deaf = { voice: () => ({ hears: false, speaks: false, usual: 'off' as const }), sendsFiles: () => true };
    assert.match(await give(store, 'on', deaf), /auxiliary\.speech/);
    assert.match(await give(store, 'status', deaf), /auxiliary\.speech.*\n.*auxiliary\.transcription/);
    assert.equal(await give(store, 'tts', { ...able, sendsFiles: () => false }), 'Voice messages cannot be sent here.');
    assert.equal(await give(store, 'on', {}), 'Answers cannot be spoken here.');
    assert.equal(await mode(store), undefined);
    await give(store, 'off', deaf);
    assert.equal(await mode(store), 'off', 'who does not want to hear may always say so');
  });

  test('the status tells why an answer was not spoken', async () => {
    const { store } = await open();
    await begin(store);
    await store.write(async (tx) => {
      await planSpeech(tx, { turnId: 1, sessionId: 's1', agent: 'main', target: sampleTarget(), text: 'x' });
      await giveUpSpeech(tx, 1, 'the speech service cannot be reached');
    });
    assert.match(await give(store, 'status'), /⚠️ An answer was not spoken because the speech service cannot be reached\./);
  });
});
