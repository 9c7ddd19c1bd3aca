import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { capturingLogger } from '../../lib/logger.ts';
import { newRedactor } from '../../lib/redact.ts';
import { evaluate } from '../evaluate.ts';
import { formatProblem } from '../problem.ts';
import { evaluateSample, samplePlatforms, sampleSections, validSample } from '../sample-config.ts';
import type { SampleConfig } from '../sample-config.ts';
import { settingsAsJson, settingsAsYaml } from '../settings/show-settings.ts';

const everythingShown = (config: SampleConfig): string => {
  const problems = config.ok ? config.disabled.flatMap((entry) => entry.problems) : config.problems;
  const texts = [...problems, ...config.warnings].flatMap((problem) => [formatProblem(problem), JSON.stringify(problem)]);
  if (config.ok) texts.push(settingsAsYaml(config.settings), JSON.stringify(settingsAsJson(config.settings)), JSON.stringify(config.disabled));
  return texts.join('\n');
};

/** Places where a person may put a secret, rightly or by mistake, with YAML that is valid or broken around it. */
const places: readonly ((secret: string) => { readonly config?: string; readonly envFile?: string; readonly env?: Readonly<Record<string, string>> })[] = [
  (secret) => ({ config: `model: { api_key: "${secret}" }` }),
  (secret) => ({ config: `model:\n  api_key: ${secret}\n  default: "${secret}"\n` }),
  (secret) => ({ config: `model: { api_key: ["${secret}"] }` }),
  (secret) => ({ config: `model: { api_key: { "${secret}": 1 } }` }),
  (secret) => ({ config: `model: { fallback_keys: ["${secret}", "x${secret}"] }` }),
  (secret) => ({ config: 'model: { api_key: "${K}", base_url: "http://h.example/${K}" }', env: { K: secret } }),
  (secret) => ({ config: 'model: { default: "${MY_TOKEN}" }', envFile: `MY_TOKEN=${secret}` }),
  (secret) => ({ config: 'http: { port: "${MY_SECRET}" }', env: { MY_SECRET: secret } }),
  (secret) => ({ config: `agents: { a: { model: m, key: "${secret}" } }` }),
  (secret) => ({ config: `platforms: { telegram: { token: "${secret}", tokne: "${secret}", base_url: "nope" } }` }),
  (secret) => ({ config: `platforms: { telegram: { token: "${secret}", accounts: { a: { token: "${secret}" } } } }` }),
  (secret) => ({ config: `platforms:\n  telegram:\n    token "${secret}"\n` }),
  (secret) => ({ config: `platforms: { telegram: { token ${secret} } }` }),
  (secret) => ({ config: `platforms: { telegram: "${secret}" }` }),
  (secret) => ({ config: `platforms: { email: { address: "${secret}", password: "${secret}" } }` }),
  (secret) => ({ config: `model: { api_key: "${secret} }` }),
  (secret) => ({ config: `model: { api_key: *${secret} }` }),
  (secret) => ({ config: `\tapi_key: ${secret}` }),
  (secret) => ({ envFile: `TELEGRAM_BOT_TOKEN "${secret}"` }),
  (secret) => ({ envFile: `TELEGRAM_BOT_TOKEN="${secret}` }),
  (secret) => ({ envFile: `TELEGRAM_BOT_TOKN=${secret}` }),
  (secret) => ({ env: { TELEGRAM_BOT_TOKEN: secret, EMAIL_PASSWORD: secret, MODEL_API_KEY: secret } }),
];

test('a secret planted anywhere appears in nothing that is shown', () => {
  const secrets = fc.string({ unit: fc.constantFrom(...'abcdefghijkLMNOPQRST0123456789_-'), minLength: 14, maxLength: 40 }).map((text) => `q${text}z`);
  fc.assert(
    fc.property(secrets, fc.constantFrom(...places), (secret, place) => {
      const { config = '', ...sources } = place(secret);
      assert.ok(!everythingShown(evaluateSample(config, sources)).includes(secret));
    }),
    { numRuns: 200 },
  );
});

test('secrets are shown as masks, short ones as nothing', () => {
  const shown = settingsAsYaml(validSample('model: { api_key: shortone }\nplatforms: { telegram: { token: "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ" } }').settings);
  assert.match(shown, /api_key: "\*\*\*"/);
  assert.match(shown, /token: 1234…WXYZ # config\.yaml:2/);
  const borrowed = settingsAsYaml(validSample('model: { default: "${MY_TOKEN}" }', { env: { MY_TOKEN: 'tiny' } }).settings);
  assert.match(borrowed, /default: "\*\*\*"/, 'what comes from a variable that sounds like a credential is one');
});

test('the redactor learns every secret, also of a configuration that is refused', () => {
  const redactor = newRedactor();
  const { log, lines } = capturingLogger(redactor);
  const pem = '-----BEGIN KEY-----\nMIIabcdefghijklmnop\n-----END KEY-----';
  evaluate(
    { env: { EMAIL_PASSWORD: pem }, sections: sampleSections, platforms: samplePlatforms, redactor },
    { config: 'htpp: {}\nmodel: { api_key: "key-number-one", fallback_keys: [key-number-two] }\nplatforms: { telegram: { token: "${T}", bad: 1 } }', env: 'T=key-number-three\nUNKNOWN_API_KEY=key-number-four' },
  );
  log.info({ text: 'key-number-one key-number-two key-number-three key-number-four', pem }, 'test.line');
  assert.doesNotMatch(lines.join(''), /key-number|MIIabc/);
});


test('variables of the environment that are not about us are not remembered', () => {
  const redactor = newRedactor();
  evaluate({ env: { SOME_KEY: 'ordinary-word' }, sections: sampleSections, platforms: samplePlatforms, redactor }, { config: undefined, env: undefined });
  assert.equal(redactor.redact('an ordinary-word'), 'an ordinary-word');
});
