import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePlatforms, sampleSections } from '../sample-config.ts';
import { describeSettings } from './describe-settings.ts';
import type { SettingDescription } from './describe-settings.ts';

const rows = new Map(describeSettings(sampleSections, samplePlatforms).map((row) => [row.path, row]));
const row = (path: string): SettingDescription => rows.get(path) ?? assert.fail(`no row for ${path}: ${[...rows.keys()].join(', ')}`);

test('every setting is described by its schema alone', () => {
  assert.deepEqual(row('http.port'), { path: 'http.port', type: 'whole number', default: '8642', required: false, variable: 'HERMES_HTTP_PORT', secret: false, aliases: [], description: '', reload: 'restart' });
  assert.deepEqual(row('model.api_key'), { path: 'model.api_key', type: 'text', default: undefined, required: false, variable: 'MODEL_API_KEY', secret: true, aliases: [], description: 'Its key', reload: 'live' });
  assert.equal(row('model.provider').type, 'demo | openai | anthropic');
  assert.equal(row('http.origins').type, 'list of text');
  assert.equal(row('agents.<name>.model').required, true);
  assert.equal(row('routes[].agent').type, 'text');
  assert.equal(row('default_agent').default, '"main"');
});

test('shared keys stand once, with the place of the platform open, and each platform has its own', () => {
  assert.deepEqual([row('platforms.<platform>.allowed_users').variable, row('platforms.<platform>.allowed_users').aliases], ['<PLATFORM>_ALLOWED_USERS', ['allow_from']]);
  assert.equal(row('platforms.<platform>.home_channel.name').variable, '<PLATFORM>_HOME_CHANNEL_NAME');
  assert.equal(row('platforms.<platform>.home_channel').variable, '<PLATFORM>_HOME_CHANNEL');
  assert.deepEqual([row('platforms.telegram.token').variable, row('platforms.telegram.token').secret, row('platforms.telegram.token').required], ['TELEGRAM_BOT_TOKEN', true, true]);
  assert.equal(rows.has('platforms.telegram.allowed_users'), false);
});
