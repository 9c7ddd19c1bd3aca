import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRedactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import { accountPath, accountSettings, settingChange } from './account-settings.ts';
import { Draft } from './draft.ts';
import { idProblem } from './people.ts';

const openDraft = (): Promise<Draft> => Draft.open({ home: '/nowhere/at/all', env: {}, redactor: newRedactor() });

test('every setting of every platform can be asked for in words, and every secret goes to .env', async () => {
  const draft = await openDraft();
  for (const platform of platforms) {
    for (const setting of accountSettings(platform)) {
      assert.ok(setting.about.length > 3, `${platform.name}.${setting.key} says nothing about itself`);
      assert.equal(setting.choices.length > 0, setting.kind === 'choice', setting.key);
      if (!setting.isSecret) continue;
      for (const account of [platform.name, `${platform.name}@work`]) {
        const change = settingChange(draft, { account, setting }, 'a-secret-value');
        assert.ok(draft.variableOf(change.path) !== undefined || (change.keep?.value === 'a-secret-value' && change.value === `\${${change.keep.name}}`), `${account}.${setting.key}`);
      }
    }
  }
});

test('an account has its block, and a list may be typed with commas', async () => {
  assert.deepEqual(['telegram', 'telegram@work'].map(accountPath), ['platforms.telegram', 'platforms.telegram.accounts.work']);
  const telegram = platforms.find(({ name }) => name === 'telegram');
  const setting = telegram === undefined ? undefined : accountSettings(telegram).find(({ kind }) => kind === 'list');
  assert.ok(setting !== undefined);
  const change = (typed: string) => openDraft().then((draft) => settingChange(draft, { account: 'telegram', setting }, typed).value);
  assert.deepEqual(await Promise.all(['a, b ,', '[a, b]', 'a'].map(change)), ['["a","b"]', '[a, b]', '["a"]']);
});

test('a name is no id', () => {
  assert.match(idProblem('@ada') ?? '', /name/);
  assert.match(idProblem('two words') ?? '', /spaces/);
  assert.ok(idProblem(' '));
  for (const id of ['123456', 'U0ABC', '@ada:example.org', '+4915112345', 'ada@example.org']) assert.equal(idProblem(id), undefined, id);
});
