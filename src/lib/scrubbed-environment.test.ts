import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrubbedEnvironment } from './scrubbed-environment.ts';

const source = { PATH: '/bin', HOME: '/home/ada', LC_ALL: 'C', LANG: undefined, OPENAI_API_KEY: 'k1', TELEGRAM_BOT_TOKEN: 't1', HERMES_HOME: '/h', NODE_OPTIONS: '-r x', LD_PRELOAD: 'x', GITHUB_TOKEN: 'g1', BUILD: '7', LC_: 'x' };

test('a child gets its path, user and language, and nothing else', () => {
  assert.deepEqual(scrubbedEnvironment(source, { passthrough: [], withheld: new Set() }), { PATH: '/bin', HOME: '/home/ada', LC_ALL: 'C' });
});

test('what the owner lets through is passed on, but for secrets of ours', () => {
  const env = scrubbedEnvironment(source, { passthrough: ['BUILD', 'GITHUB_TOKEN', 'OPENAI_API_KEY', 'MISSING'], withheld: new Set(['OPENAI_API_KEY', 'PATH']) });
  assert.deepEqual(env, { HOME: '/home/ada', LC_ALL: 'C', BUILD: '7', GITHUB_TOKEN: 'g1' });
});
