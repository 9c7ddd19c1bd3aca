import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discord } from '../platforms/discord/index.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { idForModel, privacySection } from './privacy.ts';

const options = privacySection.schema.parse({ redact_pii: true });

test('an id is hidden where that is wanted and nobody is addressed by it, the same for the same person', () => {
  const hidden = idForModel('12345', options, telegram);
  assert.match(hidden, /^user_[0-9a-f]{12}$/);
  assert.equal(idForModel('12345', options, telegram), hidden);
  assert.notEqual(idForModel('12346', options, telegram), hidden);
  assert.equal(idForModel('12345', options, discord), '12345');
  assert.equal(idForModel('12345', privacySection.schema.parse(undefined), telegram), '12345');
});
