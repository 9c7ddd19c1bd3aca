import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '../text/parse-yaml.ts';
import { writtenCredentials } from './written-credentials.ts';

const found = (yaml: string): readonly string[] => {
  const parsed = parseYaml(yaml, 'config.yaml');
  return parsed.ok ? [...new Set(writtenCredentials(parsed.root))] : assert.fail(yaml);
};

test('credentials in addresses are found, as written and as meant', () => {
  assert.deepEqual(found('url: https://h.example/mcp?api_key=abcdefgh1&v=2025-01-01-preview'), ['abcdefgh1']);
  assert.deepEqual(found('url: "https://h.example/?a=1&accessToken=abc%2Bdefgh#x"'), ['abc%2Bdefgh', 'abc+defgh']);
  assert.deepEqual(found('url: http://ada:pa%3Ass@h.example/'), ['pa%3Ass', 'pa:ss']);
  assert.deepEqual(found('url: http://tokenalone@h.example/'), ['tokenalone']);
  assert.deepEqual(found('say: "fetch https://h.example/x?sig=Ab3dEf9hIj now"'), ['Ab3dEf9hIj']);
});

test('credentials in arguments are found, in a list and in one line', () => {
  for (const args of ['[--token, abcdefgh1]', '[--api-key=abcdefgh1]', '[-e, API_KEY=abcdefgh1]', '["--header", "Authorization: Bearer abcdefgh1"]', '["--header=X-Api-Key:abcdefgh1"]', '["X-Api-Key: abcdefgh1"]', 'run --password abcdefgh1 x', "run --secret='abcdefgh1'", '[--apiKey, abcdefgh1]', '[run, "https://h.example/?token=abcdefgh1"]']) {
    assert.deepEqual(found(`args: ${args}`), ['abcdefgh1'], args);
  }
});

test('ordinary words stay what they are', () => {
  for (const text of ['https://h.example/?version=2025-01-01&lang=en', 'http://127.0.0.1:4318', '[--port, "80808080"]', '[--auth, google-oauth]', '[--token, short]', '"12:30 is the time: come"', '[--verbose, --token]', 'tokens=1234567890', '[-y, some-package@1.2.3]', '"note: remember the milk"']) {
    assert.deepEqual(found(`x: ${text}`), [], text);
  }
});
