import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../../test/vectors/header-sanitisation.json' with { type: 'json' };
import { isUsableName, isUsableSessionId } from './place-of.ts';

for (const { id, in: value, out } of vectors.cases) {
  test(`${id}: a header is taken as a session's id or name where the original takes it`, () => {
    assert.equal(isUsableSessionId(value), out.usable_as_session_id);
    assert.equal(isUsableName(value), out.usable_as_session_key_header);
  });
}
