import assert from 'node:assert/strict';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from './load-config.ts';
import { formatProblem } from './problem.ts';
import { samplePlatforms, sampleSections, temporaryHome } from './sample-config.ts';
import type { SampleConfig } from './sample-config.ts';
import { maxFileBytes } from './text/read-config-file.ts';

const load = (home: string, env: Readonly<Record<string, string>> = {}): Promise<SampleConfig> => loadConfig({ home, env, sections: sampleSections, platforms: samplePlatforms });

const problems = async (home: string): Promise<readonly string[]> => {
  const config = await load(home);
  return config.ok ? [] : config.problems.map(formatProblem);
};

test('an empty home, and one that does not exist, gives the defaults', async () => {
  await using home = await temporaryHome();
  for (const path of [home.path, join(home.path, 'nowhere')]) {
    const config = await load(path);
    assert.ok(config.ok);
    assert.deepEqual([config.sections.http.port, config.files], [8642, []]);
  }
});

test('both files are read, with byte order mark and CRLF', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', '\uFEFFhttp:\r\n  port: 1\r\nmodel:\r\n  provider: openia\r\n');
  await home.write('.env', '\uFEFFHERMES_HTTP_PORT=2\r\nX=1\r\n');
  assert.deepEqual(await problems(home.path), ['config.yaml:4:13  model.provider  must be one of demo, openai, anthropic; did you mean openai?']);
  await home.write('config.yaml', '\uFEFFhttp:\r\n  port: 1\r\n');
  const config = await load(home.path);
  assert.ok(config.ok);
  assert.deepEqual([config.sections.http.port, config.files], [2, ['config.yaml', '.env']]);
});

test('files that are no text files are one clear problem', async () => {
  await using home = await temporaryHome();
  const cases: readonly [string | Uint8Array, RegExp][] = [
    [Buffer.from('http: {}', 'utf16le'), /zero bytes/],
    [Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('http: {}', 'utf16le')]), /UTF-16/],
    [Buffer.from([0x68, 0xc3, 0x28, 0x0a]), /not UTF-8/],
    [crypto.getRandomValues(new Uint8Array(4096)), /not UTF-8|zero bytes/],
    ['a: 1\n'.repeat(1024 * 1024), /larger than/],
    ['#'.repeat(maxFileBytes + 1), /larger than/],
  ];
  for (const [content, expected] of cases) {
    await home.write('config.yaml', content);
    const found = await problems(home.path);
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', expected);
  }
  await home.write('config.yaml', '');
  await home.write('.env', new Uint8Array([0, 1, 2]));
  assert.match((await problems(home.path))[0] ?? '', /^\.env:1:1 {2}is not a text file/);
});

test('a folder in the place of a file, and links in a circle, are problems too', async () => {
  await using home = await temporaryHome();
  await mkdir(join(home.path, 'config.yaml'));
  assert.match((await problems(home.path))[0] ?? '', /is a folder/);
  await using other = await temporaryHome();
  await symlink('config.yaml', join(other.path, 'config.yaml'));
  assert.match((await problems(other.path))[0] ?? '', /circle/);
});

test('a file with secrets that others can read is a warning', { skip: process.platform === 'win32' }, async () => {
  await using home = await temporaryHome();
  const warnings = async (): Promise<readonly string[]> => (await load(home.path, { TOKEN: 'x' })).warnings.map(formatProblem);
  await home.write('config.yaml', 'platforms: { telegram: { token: written-here } }');
  await home.write('.env', 'A=1');
  assert.deepEqual(await warnings(), []);
  await chmod(join(home.path, 'config.yaml'), 0o644);
  await chmod(join(home.path, '.env'), 0o640);
  assert.deepEqual(await warnings(), [], 'nobody else comes into the folder');
  await chmod(home.path, 0o755);
  assert.deepEqual((await warnings()).map((text) => text.split('  ')[0]), ['config.yaml', '.env']);
  await home.write('config.yaml', 'platforms: { telegram: { token: "${TOKEN}" } }');
  assert.deepEqual((await warnings()).map((text) => text.split('  ')[0]), ['.env']);
});
