import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountConfig } from './read-accounts.ts';
import { complaints, evaluateSample, validSample } from './sample-config.ts';

type Sources = Parameters<typeof validSample>[1];

const names = (text: string, sources: Sources = {}): readonly string[] => validSample(text, sources).accounts.map(({ account }) => account).filter((account) => account !== 'web');
const disabledNames = (text: string, sources: Sources = {}): readonly string[] => validSample(text, sources).disabled.map(({ account }) => account);
const accountOf = (text: string, sources: Sources = {}, name = 'telegram'): AccountConfig => {
  const found = validSample(text, sources).accounts.find(({ account }) => account === name);
  assert.ok(found !== undefined, complaints(evaluateSample(text, sources)).join('\n'));
  return found;
};
const token = { TELEGRAM_BOT_TOKEN: 'from-env' };

test('an account written in the file runs, with shared and own options apart', () => {
  const { platform, common, options } = accountOf('platforms:\n  telegram: { enabled: true, token: "t", base_url: http://127.0.0.1:9102 }\n');
  assert.equal(platform, 'telegram');
  assert.deepEqual(options, { token: 't', base_url: 'http://127.0.0.1:9102' });
  assert.deepEqual([common.enabled, common.allowed_users, common.allow_all_users, common.reply_to_mode, common.home_channel], [true, [], false, 'first', undefined]);
});

test('a credential in the environment is enough, but an explicit enabled: false in the file beats it', () => {
  assert.deepEqual(names('', { env: token }), ['telegram']);
  assert.deepEqual(names('', { envFile: 'TELEGRAM_BOT_TOKEN=x' }), ['telegram']);
  for (const off of ['false', 'no', 'off', '"false"', '${OFF}']) {
    assert.deepEqual(names(`platforms: { telegram: { enabled: ${off} } }`, { env: { ...token, OFF: '0' } }), [], off);
  }
  assert.deepEqual(disabledNames('platforms: { telegram: { enabled: false } }', { env: token }), []);
});

test('access variables alone make no account', () => {
  assert.deepEqual(names('', { env: { TELEGRAM_ALLOWED_USERS: '1' } }), []);
  assert.deepEqual(disabledNames('', { env: { TELEGRAM_ALLOWED_USERS: '1' } }), []);
  assert.deepEqual(disabledNames('', { env: { EMAIL_ADDRESS: 'a@b.example' } }), [], 'nor does an address without its password');
});

test('a platform that is always on runs unconfigured and can be switched off', () => {
  assert.ok(validSample('').accounts.some(({ account }) => account === 'web'));
  assert.ok(!validSample('platforms: { web: { enabled: false } }').accounts.some(({ account }) => account === 'web'));
});

test('ids may be a list, a comma string, numbers of any size, or a variable', () => {
  const allowed = (text: string, sources: Sources = {}): readonly string[] => accountOf(`platforms:\n  telegram:\n    token: t\n    allowed_users: ${text}\n`, sources).common.allowed_users;
  assert.deepEqual(allowed('[1001, "1002", abc]'), ['1001', '1002', 'abc']);
  assert.deepEqual(allowed('1001, 1002 ,'), ['1001', '1002']);
  assert.deepEqual(allowed('1234567890123456789012'), ['1234567890123456789012']);
  assert.deepEqual(allowed('-1001234567890123456'), ['-1001234567890123456']);
  assert.deepEqual(allowed('[1]', { env: { TELEGRAM_ALLOWED_USERS: '5,6' } }), ['5', '6']);
  assert.deepEqual(allowed('["${WHO}"]', { env: { WHO: '9' } }), ['9']);
});

test('* is refused in every list, with the flag to use instead', () => {
  const [complaint] = complaints(evaluateSample('platforms:\n  telegram:\n    token: t\n    allowed_users: ["*"]\n'));
  assert.equal(complaint, 'config.yaml:4:21  platforms.telegram.allowed_users[0]  * is not accepted here; set allow_all_users: true if everybody may talk to the agent');
  assert.deepEqual(disabledNames('', { env: { ...token, TELEGRAM_ALLOWED_USERS: '*' } }), ['telegram']);
  for (const list of ['group_allowed_users', 'group_allowed_chats', 'allow_admin_from', 'group_allow_admin_from']) {
    assert.deepEqual(disabledNames(`platforms: { telegram: { token: t, ${list}: "*" } }`), ['telegram'], list);
  }
});

test('a misspelt access key disables the account and is never ignored', () => {
  const slips = ['alowed_users', 'allowed_user', 'allowedusers', 'allow_all_user', 'allow_bot', 'group_alowed_chats', 'allow_admin_form', 'unauthorised_dm_behavior', 'user_allowed_comands', 'enabeld'];
  for (const slip of slips) {
    for (const text of [`platforms: { telegram: { token: t, ${slip}: [1] } }`, `platforms: { telegram: { token: t, extra: { ${slip}: [1] } } }`, `telegram: { token: t, ${slip}: [1] }`]) {
      const loaded = validSample(text);
      assert.deepEqual(loaded.accounts.map(({ account }) => account), ['web'], text);
      assert.match(complaints(loaded)[0] ?? '', /unknown key; did you mean \w+\?$/, text);
    }
  }
});

test('one broken account leaves the others, the sections and the process alone', () => {
  const text = `http: { port: 5 }
platforms:
  telegram:
    token: one
    accounts:
      work: { token: two, allow_all_users: perhaps }
      home: { token: three }
  email: { address: nobody, password: secret }
`;
  const config = validSample(text);
  assert.deepEqual(config.accounts.map(({ account }) => account), ['telegram', 'telegram@home', 'web']);
  assert.deepEqual(config.disabled.map(({ account, platform }) => [account, platform]), [['telegram@work', 'telegram'], ['email', 'email']]);
  assert.deepEqual(complaints(config), [
    'config.yaml:6:44  platforms.telegram.accounts.work.allow_all_users  must be true or false, not text',
    'config.yaml:8:21  platforms.email.address  is not a valid email',
  ]);
  assert.equal(config.sections.http.port, 5);
});

test('what an account lacks is named with the variable that could hold it', () => {
  assert.deepEqual(complaints(evaluateSample('platforms:\n  telegram: { enabled: true }\n')), ['config.yaml:2:3  platforms.telegram.token  is required; set it here or as TELEGRAM_BOT_TOKEN']);
  assert.deepEqual(complaints(evaluateSample('', { env: { EMAIL_PASSWORD: 'hunter22' } })), ['platforms.email.address  is required; set it here or as EMAIL_ADDRESS']);
  assert.deepEqual(complaints(evaluateSample('platforms:\n  telegram:\n    accounts:\n      work: {}\n')), ['config.yaml:4:7  platforms.telegram.accounts.work.token  is required']);
});

test('variables speak for the default account only', () => {
  const text = 'platforms:\n  telegram:\n    accounts:\n      work: { token: two, allowed_users: [7] }\n';
  const config = validSample(text, { env: { ...token, TELEGRAM_ALLOWED_USERS: '1' } });
  assert.deepEqual(config.accounts.map(({ account, common }) => [account, common.allowed_users]), [['telegram', ['1']], ['telegram@work', ['7']], ['web', []]]);
});

test('enabled beside accounts speaks of the whole platform', () => {
  assert.deepEqual(names('platforms: { telegram: { enabled: true, accounts: { work: { token: a } } } }'), ['telegram@work']);
  assert.deepEqual(disabledNames('platforms: { telegram: { enabled: true, accounts: { work: { token: a } } } }'), []);
  assert.deepEqual(names('platforms: { telegram: { enabled: false, accounts: { work: { token: a } } } }', { env: token }), []);
  assert.deepEqual(names('platforms: { telegram: { token: x, accounts: { work: { enabled: false, token: a } } } }'), ['telegram']);
});

test('accounts are named with plain words', () => {
  assert.deepEqual(disabledNames('platforms: { telegram: { accounts: { "a:b": { token: x } } } }'), ['telegram@a:b']);
  assert.deepEqual(disabledNames('platforms: { telegram: { token: y, accounts: { default: { token: x } } } }').length, 1);
  assert.deepEqual(disabledNames('platforms: { telegram: { accounts: [a] } }'), ['telegram@accounts']);
});

test('keys of extra count as if they stood beside it, and the outer one wins', () => {
  const { common, options } = accountOf('platforms:\n  telegram:\n    extra: { token: inner, base_url: "http://x.example", allow_from: [1], reply_to_mode: all }\n    token: outer\n    allowed_users: [2]\n');
  assert.deepEqual(options, { token: 'outer', base_url: 'http://x.example' });
  assert.deepEqual([common.allowed_users, common.reply_to_mode], [['2'], 'all']);
  assert.deepEqual(complaints(evaluateSample('platforms:\n  telegram:\n    token: t\n    extra: [1]\n')), ['config.yaml:4:5  platforms.telegram.extra  must be a mapping']);
});

test('a block of its own at the top level belongs to the platform', () => {
  const { common, options } = accountOf('telegram: { allowed_users: [1], base_url: "http://y.example" }\nplatforms: { telegram: { token: t, base_url: "http://x.example" } }\n');
  assert.deepEqual([common.allowed_users, options], [['1'], { token: 't', base_url: 'http://x.example' }]);
});

test('the original names of lists are read, but not beside our own', () => {
  assert.deepEqual(accountOf('platforms: { telegram: { token: t, allow_from: [1], group_allow_from: "2,3" } }').common.group_allowed_users, ['2', '3']);
  assert.deepEqual(complaints(evaluateSample('platforms:\n  telegram:\n    token: t\n    allow_from: [1]\n    allowed_users: [2]\n')), [
    'config.yaml:4:5  platforms.telegram.allow_from  means the same as allowed_users, which is given too; keep one',
  ]);
});

test('the home channel may be a bare id, a mapping or variables', () => {
  const home = (text: string, sources: Sources = {}): unknown => accountOf(`platforms: { telegram: { token: t${text} } }`, sources).common.home_channel;
  assert.deepEqual(home(', home_channel: -1001'), { chat_id: '-1001', name: 'Home' });
  assert.deepEqual(home(', home_channel: { chat_id: 5, thread_id: 7, name: Ops }'), { chat_id: '5', thread_id: '7', name: 'Ops' });
  assert.deepEqual(home('', { env: { TELEGRAM_HOME_CHANNEL: '-1', TELEGRAM_HOME_CHANNEL_NAME: 'N', TELEGRAM_HOME_CHANNEL_THREAD_ID: '3' } }), { chat_id: '-1', name: 'N', thread_id: '3' });
  assert.deepEqual(home(', home_channel: { chat_id: 5, thread_id: 7 }', { env: { TELEGRAM_HOME_CHANNEL: '-1' } }), { chat_id: '-1', name: 'Home' }, 'a thread belongs to its chat');
});

test('a misspelt platform is reported and stops the platform that was meant', () => {
  const config = validSample('platforms:\n  telegrm: { enabled: false }\n', { env: token });
  assert.deepEqual(config.accounts.map(({ account }) => account), ['web']);
  assert.deepEqual(config.disabled.map(({ account }) => account), ['telegram']);
  assert.deepEqual(complaints(config), ['config.yaml:2:3  platforms.telegrm  unknown platform; did you mean telegram?']);
  assert.deepEqual(disabledNames('platforms: { carrierpigeon: {} }'), ['carrierpigeon']);
});

test('a misspelt access variable in .env stops the account it was meant for', () => {
  const config = validSample('platforms: { telegram: { token: t, allow_all_users: true } }', { envFile: 'TELEGRAM_ALOW_ALL_USERS=false' });
  assert.deepEqual(config.disabled.map(({ account }) => account), ['telegram']);
  assert.deepEqual(complaints(config), ['.env:1  (TELEGRAM_ALOW_ALL_USERS)  unknown variable; did you mean TELEGRAM_ALLOW_ALL_USERS?']);
});

test('an unset reference disables its account only', () => {
  const config = validSample('platforms:\n  telegram: { token: ${NO_SUCH}, accounts: { work: { token: w } } }\n');
  assert.deepEqual(config.accounts.map(({ account }) => account), ['telegram@work', 'web']);
  assert.match(complaints(config)[0] ?? '', /^config\.yaml:2:22 {2}platforms\.telegram\.token {2}the variable NO_SUCH is not set/);
});

test('two accounts with one credential: the first keeps it', () => {
  const config = validSample('platforms: { telegram: { token: same, accounts: { work: { token: same }, home: { token: other } } } }');
  assert.deepEqual(config.accounts.map(({ account }) => account), ['telegram', 'telegram@home', 'web']);
  assert.match(complaints(config)[0] ?? '', /telegram\.accounts\.work {2}uses the same credential as the account telegram$/);
});

test('an account that is not a mapping is a problem of that account, and nothing there is no account', () => {
  assert.deepEqual(complaints(evaluateSample('platforms:\n  telegram: yes please\n')), ['config.yaml:2:13  platforms.telegram  must be a mapping']);
  assert.deepEqual(names('platforms:\n  telegram:\n  email:\n'), []);
  assert.deepEqual(disabledNames('platforms:\n  telegram:\n'), []);
  assert.equal(evaluateSample('platforms: [telegram]\n').ok, false);
});

test('an account that cannot run is still known as one that the gateway can do without', () => {
  const { disabled, accounts } = validSample('platforms: { telegram: { token: a, accounts: { work: { base_url: nowhere, token: b, required: false }, home: { base_url: nowhere, token: c } } }, email: { address: a@b.example, password: 12345, required: false } }');
  assert.deepEqual(disabled.map(({ account, isOptional }) => [account, isOptional]), [['telegram@work', true], ['telegram@home', undefined]]);
  assert.deepEqual(accounts.filter(({ platform }) => platform !== 'web').map(({ account, common }) => [account, common.required]), [['telegram', true], ['email', false]]);
});
