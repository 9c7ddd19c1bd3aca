import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { samplePlatforms, sampleSections } from '../sample-config.ts';
import { defineSection } from '../section.ts';
import { adoptSettings } from './adopt-settings.ts';

const adopt = (ours: { config?: string; env?: string }, theirs: { config?: string; env?: string }) =>
  adoptSettings({ env: {}, sections: sampleSections, platforms: samplePlatforms }, { config: ours.config, env: ours.env }, { config: theirs.config, env: theirs.env });

const fates = (adoption: ReturnType<typeof adopt>): Readonly<Record<string, string>> => Object.fromEntries(adoption.settings.map(({ what, fate }) => [what, fate]));

test('settings are taken one by one, and a bad one takes no other with it', () => {
  const adoption = adopt({}, { config: 'model: { provider: openai, default: gpt, nonsense: 1 }\nplatforms: { telegram: { allowed_users: [7, "*"] } }\n' });
  assert.deepEqual(fates(adoption), { 'model.provider': 'taken', 'model.default': 'taken', 'model.nonsense': 'left', 'platforms.telegram.allowed_users': 'left' });
  assert.match(adoption.texts.config ?? '', /^model:\n {2}provider: openai\n {2}default: gpt\n$/);
});

test('ids that are longer than a number can be are taken as they are, and recognised the second time', () => {
  const theirs = { config: 'platforms: { telegram: { allowed_users: [1234567890123456789, 0049123, 7] } }\nhttp: { port: 1 }\n' };
  const first = adopt({}, theirs);
  assert.match(first.texts.config ?? '', /allowed_users:\n +- "1234567890123456789"\n +- "0049123"\n +- 7\nhttp:\n {2}port: 1\n/);
  assert.deepEqual(fates(adopt({ config: first.texts.config ?? '' }, theirs)), { 'platforms.telegram.allowed_users': 'known', 'http.port': 'known' });
  assert.deepEqual(fates(adopt({ config: 'platforms: { telegram: { allowed_users: [1234567890123456788, 0049123, 7] } }\n' }, theirs))['platforms.telegram.allowed_users'], 'left');
});

test('keys that are only right together are taken together, and what is wrong beside them is left', () => {
  const quick = defineSection('quick', z.record(z.string(), z.discriminatedUnion('type', [z.strictObject({ type: z.literal('exec'), command: z.string() }), z.strictObject({ type: z.literal('alias'), target: z.string() })])).default({}), 'live');
  const adoption = adoptSettings({ env: {}, sections: [...sampleSections, quick], platforms: samplePlatforms }, { config: undefined, env: undefined }, { env: undefined, config: 'quick: { hi: { type: exec, command: echo }, odd: { type: exec, command: ls, nonsense: 1 }, bad: { type: exec, target: x } }\nhttp: { port: 1 }\n' });
  assert.deepEqual(fates(adoption), { 'http.port': 'taken', 'quick.hi.type': 'taken', 'quick.hi.command': 'taken', 'quick.odd.type': 'taken', 'quick.odd.command': 'taken', 'quick.odd.nonsense': 'left', 'quick.bad.type': 'left', 'quick.bad.target': 'left' });
});

test('a secret goes to .env, and one that is there stays', () => {
  const theirs = { config: 'model: { api_key: their-long-key }\n' };
  const first = adopt({}, theirs);
  assert.deepEqual(fates(first), { 'model.api_key': 'changed' });
  assert.equal(first.texts.env, 'MODEL_API_KEY=their-long-key\n');
  assert.doesNotMatch(first.texts.config ?? '', /their-long-key/);
  assert.deepEqual(fates(adopt({ env: 'MODEL_API_KEY=their-long-key\n' }, theirs)), { 'model.api_key': 'known' });
  const other = adopt({ env: 'MODEL_API_KEY=own-long-key\n' }, theirs);
  assert.deepEqual(fates(other), { 'model.api_key': 'left' });
  assert.equal(other.texts.env, 'MODEL_API_KEY=own-long-key\n');
});

test('variables are taken unless they have a value here', () => {
  const adoption = adopt({ env: 'A=1\nB=2\n' }, { env: 'A=1\nB=3\nC=4\nEMPTY=\nHERMES_HOME=/x\n' });
  assert.deepEqual(fates(adoption), { A: 'known', B: 'left', C: 'taken' });
  assert.equal(adoption.texts.env, 'A=1\nB=2\nC=4\n');
});

test('a variable does not win over what stands in our config.yaml, unless that asks for it', () => {
  const ours = { config: 'http: { port: 1 }\nplatforms: { telegram: { token: "1:own" } }\n' };
  const adoption = adopt(ours, { env: 'TELEGRAM_BOT_TOKEN=2:theirs\nHERMES_HTTP_PORT=1\nHERMES_HTTP_HOST=0.0.0.0\n' });
  assert.deepEqual(fates(adoption), { TELEGRAM_BOT_TOKEN: 'left', HERMES_HTTP_PORT: 'known', HERMES_HTTP_HOST: 'taken' });
  assert.deepEqual(fates(adopt({ config: 'platforms: { telegram: { token: "${TELEGRAM_BOT_TOKEN}" } }\n' }, { env: 'TELEGRAM_BOT_TOKEN=2:theirs\n' })), { TELEGRAM_BOT_TOKEN: 'taken' });
});

test('what strangers get everywhere is said for each platform that is used and has nothing of its own', () => {
  const theirs = { config: 'unauthorized_dm_behavior: ignore\nplatforms: { email: { address: a@example.org, password: long-enough, unauthorized_dm_behavior: pair } }\n', env: 'TELEGRAM_BOT_TOKEN=1:theirs\n' };
  const { settings, texts } = adopt({}, theirs);
  assert.deepEqual(settings.filter(({ what }) => what.endsWith('dm_behavior')), [
    { what: 'platforms.email.unauthorized_dm_behavior', fate: 'taken' },
    { what: 'platforms.telegram.unauthorized_dm_behavior', fate: 'changed', why: 'it was unauthorized_dm_behavior' },
  ]);
  assert.match(texts.config ?? '', /telegram:\n {4}unauthorized_dm_behavior: ignore/);
});

test('a file that cannot be read is left as a whole', () => assert.deepEqual(adopt({}, { config: 'model: [' }).settings.map(({ fate }) => fate), ['left']));
