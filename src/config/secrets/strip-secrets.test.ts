import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePlatforms, sampleSections } from '../sample-config.ts';
import { stripSecrets } from './strip-secrets.ts';

const strip = (text: string) => stripSecrets(text, { sections: sampleSections, platforms: samplePlatforms });

test('secrets are taken out, known or only named like one, and everything else stays as it is', () => {
  const stripped = strip('# mine\nmodel:\n  provider: openai # good\n  api_key: sk-planted-1\nplatforms:\n  telegram:\n    token: 1:planted-2\n    allowed_users: [7]\nmcp_servers:\n  x:\n    env: { X_API_KEY: planted-3, LANG: de }\n    headers: [{ password: planted-4 }]\n');
  assert.ok(stripped !== undefined);
  assert.doesNotMatch(stripped.text, /planted/);
  assert.match(stripped.text, /^# mine\nmodel:\n {2}provider: openai # good\n/);
  assert.match(stripped.text, /allowed_users: \[ ?7 ?\]/);
  assert.match(stripped.text, /LANG: de/);
  assert.deepEqual(stripped.removed, ['model.api_key', 'platforms.telegram.token', 'mcp_servers.x.env.X_API_KEY', 'mcp_servers.x.headers.0.password']);
});

test('what was a secret once is taken out of comments, and the rest of them stays', () => {
  const stripped = strip('# OPENAI_API_KEY=planted-0 is the old one\nmodel:\n  provider: openai # not planted-long-1 again\n  # api_key: "planted-2" # since May\n  api_key: planted-long-1\n# token: planted-3\nhttp: { port: 1 } # sk-planted45678901234567890\n# password: planted-5\n');
  assert.equal(stripped?.text, '# OPENAI_API_KEY=*** is the old one\nmodel:\n  provider: openai # not *** again\n# token: ***\nhttp: { port: 1 } # ***\n\n# password: ***\n');
  assert.deepEqual(stripped.removed, ['model.api_key', 'comments']);
  for (const text of ['# token: planted\n', '# a\n\n# b\n']) assert.equal(strip(text)?.text, text.replace('planted', '***'));
});

test('a reference to a variable is no secret', () => {
  const text = 'model:\n  api_key: ${MODEL_API_KEY}\n';
  assert.deepEqual(strip(text), { text, removed: [] });
});

test('credentials inside addresses and arguments are taken out of them', () => {
  const stripped = strip('mcp_servers:\n  a:\n    url: "https://h.example/mcp?api_key=planted-1&x=1"\n    args: [run, --token, planted-2, --api-key=planted-3, --password, "${MY_PASSWORD}", "https://u:planted-4@h.example/"] # all\n');
  assert.ok(stripped !== undefined);
  assert.doesNotMatch(stripped.text, /planted/);
  assert.match(stripped.text, /https:\/\/h\.example\/mcp\?api_key=\*\*\*&x=1/);
  assert.match(stripped.text, /--token/);
  assert.match(stripped.text, /\$\{MY_PASSWORD\}/);
  assert.deepEqual(stripped.removed, ['mcp_servers.a.url', 'mcp_servers.a.args.6', 'mcp_servers.a.args.3', 'mcp_servers.a.args.2']);
});

test('what cannot be read is not taken along', () => assert.equal(strip('model: ['), undefined));
