import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRedactor } from '../lib/redact.ts';
import { redactForModel } from './redact-for-model.ts';

const redactor = newRedactor();
redactor.remember('known-secret-value');
const redact = (text: string): string => redactForModel(redactor, text);

test('known secrets and things that look like credentials are gone', () => {
  assert.equal(redact('a known-secret-value b'), 'a *** b');
  assert.equal(redact('Authorization: Bearer abcdefghijklmnop'), 'Authorization: Bearer ***');
  assert.equal(redact('postgres://me:hunter22@db/x'), 'postgres://me:***@db/x');
});

test('settings that are named like secrets lose their value, however they are written down', () => {
  const cases: Readonly<Record<string, string>> = {
    'OPENAI_API_KEY=abcd1234efgh': 'OPENAI_API_KEY=***',
    'export DB_PASSWORD="p4ssw0rd!"': 'export DB_PASSWORD="***"',
    "  bot_token: '12ab34cd56'  # of the bot": "  bot_token: '***'  # of the bot",
    '{"client_secret": "abc\\"def123", "id": "visible-value"}': '{"client_secret": "***", "id": "visible-value"}',
    'https://x.example/cb?access_token=abc123def&state=9': 'https://x.example/cb?access_token=***&state=9',
    'first line\nSECRET_KEY = 0123456789abcdef\nlast line': 'first line\nSECRET_KEY = ***\nlast line',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(redact(text), expected);
});

test('a private key goes whole, also when its end is missing', () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${'abcd\n'.repeat(20)}-----END RSA PRIVATE KEY-----`;
  assert.equal(redact(`before\n${key}\nafter`), 'before\n-----BEGIN RSA PRIVATE KEY----- ***\nafter');
  assert.equal(redact(key.slice(0, 80)), '-----BEGIN RSA PRIVATE KEY----- ***');
});

test('prose, code and references stay as they are', () => {
  const harmless = [
    'The token budget: 8000 tokens.',
    'const apiKey = process.env.OPENAI_API_KEY;',
    'api_key: ${OPENAI_API_KEY}',
    'password: config.password',
    'token = await readToken(path)',
    'if (password === other) return;',
    'secret: true',
    'The password: ask Ada for it.',
    '- token: string',
  ];
  for (const text of harmless) assert.equal(redact(text), text);
});
