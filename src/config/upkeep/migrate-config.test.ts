import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { evaluate } from '../evaluate.ts';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import type { TemporaryHome } from '../sample-config.ts';
import { migrateConfig, migrateText } from './migrate-config.ts';
import { retirements } from './retirements.ts';

const migrate = (home: TemporaryHome, dryRun = false) => migrateConfig({ home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms, dryRun, nowMs: Date.UTC(2026, 10, 15) });

const old = '# mine\nmodel: { provider: demo } # good\n\ntimezone: Europe/Berlin # here\nfallback_model:\n  provider: openai\n  api_key: sk-planted-secret\nstreaming:\n  enabled: true\n  transport: auto\n';

test('keys that have moved are written in their new places, and everything else stays as it was', () => {
  const migrated = migrateText(old);
  assert.equal(migrated?.text, '# mine\nmodel: { provider: demo } # good\nstreaming:\n  transport: auto\ncron:\n  timezone: Europe/Berlin # here\nfallback_providers:\n  - provider: openai\n    api_key: sk-planted-secret\ndisplay:\n  streaming: true\n');
  assert.deepEqual(migrateText(migrated?.text ?? '')?.moved, [], 'a second time there is nothing to do');
});

test('what the original reads below gateway moves from there, unless it stands above as well', () => {
  assert.equal(migrateText('gateway:\n  streaming: { enabled: true } # shown as it grows\n  stt_echo_transcripts: false\n')?.text, 'display:\n  streaming: true # shown as it grows\nstt:\n  echo_transcripts: false\n');
  assert.deepEqual(migrateText('stt_echo_transcripts: true\ngateway: { stt_echo_transcripts: false }\n')?.moved, [{ from: ['stt_echo_transcripts'], to: ['stt', 'echo_transcripts'] }]);
});

test('comments go with the keys that they are about; those of the file and of other keys stay', () => {
  const migrated = (text: string): string | undefined => migrateText(text)?.text;
  assert.equal(migrated('model: x\n\n# where I live\n# for now\ntimezone: UTC\ncron:\n  keep_days: 3 # few\n'), 'model: x\ncron:\n  keep_days: 3 # few\n  # where I live\n  # for now\n  timezone: UTC\n');
  assert.equal(migrated('# my gateway\n\n# where I live\ntimezone: UTC\nmodel: x\n'), '# my gateway\n\nmodel: x\ncron:\n  # where I live\n  timezone: UTC\n');
  assert.equal(migrated('# my gateway\ntimezone: UTC\nmodel: x\n'), '# my gateway\n\nmodel: x\ncron:\n  timezone: UTC\n');
  assert.equal(migrated('model: x\n# answers\nstreaming:\n  # as they grow\n  enabled: true # yes\n'), 'model: x\ndisplay:\n  # answers\n  # as they grow\n  streaming: true # yes\n');
  assert.equal(migrated('model: x\n# answers\nstreaming:\n  # as they grow\n  enabled: true\n  transport: auto # how\n'), 'model: x\n# answers\nstreaming:\n  transport: auto # how\ndisplay:\n  # as they grow\n  streaming: true\n');
  assert.equal(migrated('model: x\n# if all else fails\nfallback_model:\n  # who\n  provider: openai # good\n'), 'model: x\n# if all else fails\nfallback_providers:\n  # who\n  - provider: openai # good\n');
  assert.equal(migrated('timezone: &tz UTC\nmodel: *tz\n'), undefined, 'whoever refers to it would lose it');
});

test('what stands in the new place already wins, and what is in the way is left alone', () => {
  for (const text of ['timezone: A\ncron:\n  timezone: B\n', 'timezone: A\ncron: daily\n', 'model: demo\n', '']) assert.deepEqual(migrateText(text), { text, moved: [] });
});

test('the old file is kept, the difference is shown without secrets, and a dry run writes nothing', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', old);
  const dry = await migrate(home, true);
  assert.ok(dry.type === 'migrated' && dry.kept === undefined);
  assert.equal(await readFile(join(home.path, 'config.yaml'), 'utf8'), old);
  assert.deepEqual(await readdir(home.path), ['config.yaml']);
  const done = await migrate(home);
  assert.ok(done.type === 'migrated' && done.kept !== undefined);
  assert.deepEqual(done.diff, dry.diff);
  assert.ok(done.diff.includes('- timezone: Europe/Berlin # here') && done.diff.includes('+   timezone: Europe/Berlin # here'));
  assert.ok(!done.diff.join('\n').includes('sk-planted-secret'), done.diff.join('\n'));
  assert.equal(await readFile(done.kept, 'utf8'), old);
  assert.equal((await stat(done.kept)).mode & 0o777, 0o600);
  assert.deepEqual(await migrate(home), { type: 'nothing' });
});

test('a file that cannot be read is left alone', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'timezone: [');
  assert.equal((await migrate(home)).type, 'refused');
  assert.equal(await readFile(join(home.path, 'config.yaml'), 'utf8'), 'timezone: [');
});

test('before it is migrated a file is understood all the same, and says so with its line', () => {
  const { config } = evaluate({ env: {}, sections: sampleSections, platforms: samplePlatforms }, { config: 'model: { provider: demo }\ntimezone: UTC\n', env: undefined });
  assert.ok(config.ok);
  const warning = config.warnings.find(({ code }) => code === 'retired');
  assert.equal(warning?.line, 2);
  assert.match(warning?.message ?? '', /cron\.timezone/);
});

test('a key that is set under both names says why the old one is not used', () => {
  const { config } = evaluate({ env: {}, sections: sampleSections, platforms: samplePlatforms }, { config: 'model: { provider: demo }\nstt_echo_transcripts: false\nstt: { echo_transcripts: true }\n', env: undefined });
  assert.ok(config.ok);
  const [warning, ...more] = config.warnings.filter(({ path, message }) => `${path} ${message}`.includes('stt_echo_transcripts'));
  assert.deepEqual([warning?.code, warning?.line, warning?.message, more], ['unused', 2, 'is not used: it is called stt.echo_transcripts now, and that is set as well; remove one of the two', []]);
});

test('no key moves to a place that has itself moved', () => {
  const from = new Set(retirements.map((one) => one.from.join('.')));
  assert.deepEqual(retirements.filter((one) => from.has(one.to.join('.'))), []);
});
