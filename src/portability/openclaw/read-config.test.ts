import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newImportReport } from '../import-report.ts';
import { mapOpenclawConfig, parseJson5 } from './read-config.ts';

test('JSON with comments, loose keys, single quotes, tabs and commas at the end is read', () => {
  assert.deepEqual(parseJson5("{\n\t// one\n\ta: 'x // no comment', /* two */\n\t\"b\": [1, 2,],\n\turl: \"http://h/p\",\n}"), { a: 'x // no comment', b: [1, 2], url: 'http://h/p' });
  assert.equal(parseJson5('{ a: ['), undefined);
});

test('model, messengers, people and variables are put into our words', () => {
  const report = newImportReport();
  const mapped = mapOpenclawConfig(
    `{ agents: { defaults: { model: { primary: "anthropic/claude-opus-4-6" }, workspace: "~/w" } },
       channels: { telegram: { enabled: true, botToken: "1:abc", allowFrom: ["tg:7", 8, "*"], groups: { "*": {} } }, discord: { token: { source: "env" } }, whatsapp: { allowFrom: ["+1"] } },
       env: { vars: { OPENROUTER_API_KEY: "it's" }, shellEnv: { enabled: true } }, gateway: { port: 18789 } }`,
    report,
  );
  assert.equal(mapped.config, 'model:\n  provider: anthropic\n  default: claude-opus-4-6\nplatforms:\n  telegram:\n    allowed_users:\n      - "7"\n      - "8"\n');
  assert.equal(mapped.env, "TELEGRAM_BOT_TOKEN='1:abc'\nOPENROUTER_API_KEY=\"it's\"\n");
  assert.equal(mapped.workspace, '~/w');
  assert.deepEqual(report.lines.map(({ what }) => what), ['openclaw.json channels.telegram.allowFrom: "*"', 'openclaw.json channels.telegram: groups', 'openclaw.json channels.discord.token', 'openclaw.json channels.whatsapp', 'openclaw.json gateway']);
});

test('a provider that is not known here is named, not guessed', () => {
  const report = newImportReport();
  assert.equal(mapOpenclawConfig('{ agents: { defaults: { model: "acme/x" } } }', report).config, '');
  assert.match(report.lines[0]?.why ?? '', /no provider "acme"/);
});
