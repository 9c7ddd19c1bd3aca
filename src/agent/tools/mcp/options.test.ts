import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mcpSection } from './options.ts';

const problems = (server: object): readonly string[] => {
  const read = mcpSection.schema.safeParse({ it: server });
  return read.success ? [] : read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
};

test('a program or an address is enough', () => {
  assert.deepEqual(problems({ command: 'npx', args: ['-y', 'server'] }), []);
  assert.deepEqual(problems({ url: 'https://mcp.example/mcp' }), []);
  const { it } = mcpSection.schema.parse({ it: { command: 'x' } });
  assert.deepEqual([it?.timeout, it?.connect_timeout, it?.enabled, it?.auth, it?.tools.exclude], [120, 60, true, 'none', []]);
});

test('a server has one way to be reached', () => {
  assert.match(problems({}).join(), /it\.command: say how the server is reached/);
  assert.match(problems({ command: 'x', url: 'https://x.example' }).join(), /it\.url: .*not both/);
});

test('an address holds no credentials and is one of the web', () => {
  for (const url of ['ftp://x.example', 'https://user:secret@x.example', 'nonsense']) assert.match(problems({ url }).join(), /it\.url: must be an http or https address/, url);
});

test('logging in needs an address and what it is done with', () => {
  assert.match(problems({ command: 'x', auth: 'oauth' }).join(), /it\.auth: only servers with a `url`/);
  assert.match(problems({ url: 'https://x.example', auth: 'client_credentials' }).join(), /it\.oauth: .*oauth\.client_id/);
  assert.deepEqual(problems({ url: 'https://x.example', auth: 'client_credentials', oauth: { client_id: 'a', client_secret: 'b' } }), []);
});

test('a misspelt key is a mistake', () => {
  assert.equal(problems({ command: 'x', tools: { includes: ['a'] } }).length, 1);
  assert.equal(problems({ command: 'x', timeouts: 3 }).length, 1);
});
