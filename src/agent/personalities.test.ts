import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPersonality, listPersonalities, personalitiesSetting, personalityFor, withPersonality } from './personalities.ts';

const own = personalitiesSetting.parse({ Butler: 'Speak like a butler.', pirate: { system_prompt: 'Arr.', description: 'Ours', tone: 'merry', style: 'short' } });

test('the owner’s personalities stand beside ours and win over them', () => {
  assert.deepEqual(listPersonalities(own).map(({ name }) => name), ['butler', 'concise', 'creative', 'pirate', 'teacher', 'technical']);
  assert.deepEqual(findPersonality(own, 'PIRATE'), { name: 'pirate', description: 'Ours', text: 'Arr.\nTone: merry\nStyle: short' });
  assert.equal(findPersonality(own, 'nobody'), undefined);
});

test('a conversation’s own choice comes before the owner’s, and none means none', () => {
  const settings = { personality: 'butler', personalities: own };
  assert.equal(personalityFor(settings, undefined)?.name, 'butler');
  assert.equal(personalityFor(settings, 'concise')?.name, 'concise');
  assert.equal(personalityFor(settings, 'none'), undefined);
  assert.equal(personalityFor(settings, 'gone'), undefined);
  assert.equal(personalityFor({ personalities: own }, undefined), undefined);
});

test('the way of speaking stands behind the prompt, whose bytes stay', () => {
  assert.equal(withPersonality('prompt', findPersonality(own, 'butler')), 'prompt\n\n## How to speak\n\nSpeak like a butler.');
  assert.equal(withPersonality('prompt', undefined), 'prompt');
});

test('a name that nobody could type is refused', () => {
  for (const name of ['two words', '', 'ä', 'x'.repeat(40)]) assert.equal(personalitiesSetting.safeParse({ [name]: 'x' }).success, false, name);
});
