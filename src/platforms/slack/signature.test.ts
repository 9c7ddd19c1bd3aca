import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../../test/vectors/platform-signatures.json' with { type: 'json' };
import { isSigned, sign } from './signature.ts';

interface SlackCase {
  readonly signing_secret: string;
  readonly timestamp: string;
  readonly body: string;
  readonly header?: string;
  readonly now?: number;
}

for (const { id, scheme, in: input, out } of vectors.cases) {
  if (scheme !== 'slack-v0') continue;
  test(`${id} is judged as Slack's documentation says`, () => {
    const { signing_secret: secret, timestamp, body, header, now } = input as unknown as SlackCase;
    const expected = out as { readonly accepted?: boolean; readonly header?: string };
    if (expected.header !== undefined) assert.equal(sign(secret, timestamp, body), expected.header);
    if (expected.accepted !== undefined) assert.equal(isSigned({ secret, timestamp, body, signature: header, nowMs: (now ?? Number(timestamp)) * 1000 }), expected.accepted);
  });
}

const call = { secret: 'a-secret', timestamp: '1700000000', body: '{"a":1}', nowMs: 1_700_000_000_000 };

test('a call counts only with its own body, time and secret', () => {
  const signature = sign(call.secret, call.timestamp, call.body);
  assert.ok(isSigned({ ...call, signature }));
  for (const change of [{ body: '{"a":2}' }, { timestamp: '1700000001' }, { secret: 'another' }, { signature: undefined }, { timestamp: undefined }, { signature: 'v0=' }, { timestamp: 'soon' }]) assert.equal(isSigned({ ...call, signature, ...change }), false, JSON.stringify(change));
});

test('a call from the future is refused like one from the past', () => {
  const signature = sign(call.secret, call.timestamp, call.body);
  for (const nowMs of [call.nowMs - 301_000, call.nowMs + 301_000]) assert.equal(isSigned({ ...call, signature, nowMs }), false);
});
