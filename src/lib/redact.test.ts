import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mask, newRedactor } from './redact.ts';

test('a remembered value is hidden wherever it stands, however often', () => {
  const redactor = newRedactor();
  redactor.remember('hunter22');
  assert.equal(redactor.redact('hunter22 and "hunter22"'), '*** and "***"');
});

test('nothing of a value is left to read although the beginning of it is a value as well', () => {
  for (const order of [['hunter22', 'hunter22-and-more'], ['hunter22-and-more', 'hunter22']]) {
    const redactor = newRedactor();
    for (const secret of order) redactor.remember(secret);
    assert.equal(redactor.redact('hunter22-and-more, hunter22'), '***, ***');
  }
});

test('a value too short to be told from ordinary text is not remembered', () => {
  const redactor = newRedactor();
  redactor.remember('a');
  redactor.remember('');
  assert.equal(redactor.redact('a banana'), 'a banana');
});

test('a value is taken as it is, not as a pattern', () => {
  const redactor = newRedactor();
  redactor.remember('a.c$(d)');
  assert.equal(redactor.redact('a.c$(d) abc$(d)'), '*** abc$(d)');
});

for (const [what, secret] of [
  ['a Telegram token', '7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ['a Discord token', 'MTAwMDAwMDAwMDAwMDAwMDAwMQ.Gsimul.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ['a model key', 'sk-proj-abcdefghijklmnop'],
  ['a Slack token', 'xoxb-1234567890-abcdef'],
  ['a GitHub token', 'ghp_abcdefghijklmnopqrstuvwxyz'],
  ['an AWS key', 'AKIAIOSFODNN7EXAMPLE'],
  ['a web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'],
] as const) {
  test(`${what} is hidden although nobody remembered it, also inside an address`, () => {
    const out = newRedactor().redact(`failed: https://host/bot${secret}/call and ${secret} again`);
    assert.ok(!out.includes(`${secret} again`), out);
    assert.ok(out.endsWith('*** again'));
  });
}

test('credentials of a header and of an address are hidden, and the rest is left to read', () => {
  const { redact } = newRedactor();
  assert.equal(redact('authorization: Bearer abcdefghijklmnop'), 'authorization: Bearer ***');
  assert.equal(redact('postgres://me:secret@host/db'), 'postgres://me:***@host/db');
  assert.equal(redact('redis://:secret@host/0'), 'redis://:***@host/0');
  assert.equal(redact('https://host:8080/path'), 'https://host:8080/path');
});

test('a mask shows enough of a long secret to recognise it, and nothing of a short one', () => {
  assert.equal(mask('sk-abcdefghijklmnopqrst9f2c'), 'sk-a…9f2c');
  assert.equal(mask('sk-abcdefgh9f2c'), '***');
});

test('a known secret is also found in an address, in JSON and in base64, wherever it stood before it was encoded', () => {
  const redactor = newRedactor();
  const secret = 'pa/ss "wörd" + 1';
  redactor.remember(secret);
  assert.equal(redactor.redact(`https://x.example/?key=${encodeURIComponent(secret)}&a=1`), 'https://x.example/?key=***&a=1');
  assert.equal(redactor.redact(JSON.stringify({ password: secret })), '{"password":"***"}');
  for (const before of ['', 'a', 'ab', 'user:']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const hidden = redactor.redact(`x ${Buffer.from(`${before}${secret}, and more`).toString(encoding)}`);
      assert.ok(hidden.includes('***'), `${before} ${encoding}`);
      assert.ok(!Buffer.from(hidden, encoding).toString().includes('ss "w'), `${before} ${encoding}`);
    }
  }
  redactor.remember('pa/ss "');
  assert.equal(redactor.redact(`LOGIN ada ${JSON.stringify(secret)}`), 'LOGIN ada "***"');
  assert.equal(redactor.redact('configuration-of-the-gateway, 50 % of it'), 'configuration-of-the-gateway, 50 % of it');
});
