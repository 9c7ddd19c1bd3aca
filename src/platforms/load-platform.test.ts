import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../config/load-config.ts';
import { formatProblem } from '../config/problem.ts';
import { loadPlatform, platformsFrom } from './load-platform.ts';

const source = (more = ''): string => `
import { PlatformError, z } from 'hermes-gateway/platform';
export const platform = {
  name: 'foo', label: 'Foo',
  options: z.object({ token: z.string().min(3).meta({ secret: true, env: 'FOO_TOKEN' }).describe('The token') }),
  limits: { text: 100, measure: (text) => text.length, editIntervalMs: 1000 },
  display: { tier: 'low' }, hints: '', asyncDelivery: true, authenticatesSenders: false, alwaysOn: false,
  credential: ({ token }) => token,
  open: async () => { throw new PlatformError('unavailable', 'nobody is there'); },
  simulate: async () => { throw new Error('there is none'); },
  exceptions: {},
  ${more}
};
`;

const newHome = async (files: Readonly<Record<string, string>>): Promise<{ readonly path: string } & AsyncDisposable> => {
  const path = await mkdtemp(join(tmpdir(), 'hermes-plugins-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text, { mode: 0o600 });
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
};

const problemOf = async (home: { readonly path: string }, written: string): Promise<string> => {
  const loaded = await loadPlatform(written, home.path);
  return loaded.ok ? assert.fail('it was loaded') : loaded.problem;
};

test('a folder in the home is loaded, as TypeScript or as JavaScript, and shares the gateway’s own parts', async () => {
  await using home = await newHome({ 'typed/index.ts': source().replace('(text) =>', '(text: string) =>').replace('({ token })', '({ token }: { token: string })'), 'plain/index.js': source() });
  for (const written of ['./typed', './plain', join(home.path, 'typed')]) {
    const loaded = await loadPlatform(written, home.path);
    assert.ok(loaded.ok, JSON.stringify(loaded));
    assert.equal(loaded.platform.name, 'foo');
    const { PlatformError } = await import('../core/errors.ts');
    await assert.rejects(loaded.platform.open({} as never), PlatformError);
  }
});

test('a package that is installed in the home is loaded by its name, also one that can only be imported', async () => {
  const manifest = { name: 'hermes-platform-foo', version: '1.0.0', type: 'module', exports: { '.': { import: './main.js' } } };
  await using home = await newHome({ 'node_modules/hermes-platform-foo/package.json': JSON.stringify(manifest), 'node_modules/hermes-platform-foo/main.js': source().replace('export const platform =', 'export default') });
  const loaded = await loadPlatform('hermes-platform-foo', home.path);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  assert.match(loaded.file, /hermes-platform-foo\/main\.js$/);
});

test('what is wrong is named with its file', async () => {
  await using home = await newHome({
    'shape/index.js': source("limits: { text: 'many', editIntervalMs: 1000 }, open: undefined, display: { tier: 'huge' }, name: 'Foo Bar',"),
    'schema/index.js': source('options: { token: 1 },'),
    'empty/index.js': 'export const nothing = 1;',
    'number/index.js': 'export default 7;',
    'broken/index.ts': 'export const platform = {;',
    'throws/index.js': "throw new Error('no such library');",
  });
  const shape = await problemOf(home, './shape');
  for (const part of [/shape\/index\.js: /, /name must be small letters/, /limits\.text must be a number/, /limits\.measure must be a function/, /open must be a function/, /display\.tier must be high, medium, low or minimal/]) assert.match(shape, part);
  assert.match(await problemOf(home, './schema'), /options must be a zod object/);
  assert.match(await problemOf(home, './empty'), /empty\/index\.js exports neither `platform` nor a default/);
  assert.match(await problemOf(home, './number'), /must be an object|Invalid input/);
  assert.match(await problemOf(home, './broken'), /broken\/index\.ts/);
  assert.match(await problemOf(home, './throws'), /no such library/);
  assert.match(await problemOf(home, './absent'), /absent has no index\.ts or index\.js/);
  assert.match(await problemOf(home, 'hermes-platform-absent'), /hermes-platform-absent/);
});

test('a platform that could not be loaded, or whose name is taken, disables its accounts alone, at their line', async () => {
  await using home = await newHome({
    'config.yaml': 'plugins:\n  platforms: [./foo-platform, ./twin]\nplatforms:\n  foo:\n    token: whatever\n    server: somewhere\n',
    'foo-platform/index.js': "throw new Error('no such library');",
    'twin/index.js': source("name: 'telegram',"),
  });
  const loaded = await Promise.all(['./foo-platform', './twin'].map((written) => loadPlatform(written, home.path)));
  const platforms = platformsFrom(loaded, ['telegram']);
  assert.deepEqual(platforms.map(({ name }) => name), ['foo', 'telegram-2']);
  const config = await loadConfig({ home: home.path, env: {}, sections: [], platforms });
  assert.ok(config.ok);
  const problems = Object.fromEntries(config.disabled.map(({ account, problems: found }) => [account, found.map(formatProblem)]));
  assert.match(problems['foo']?.join('\n') ?? '', /^config\.yaml:\d+.*platforms\.foo.*could not be loaded: \.\/foo-platform: no such library$/);
  assert.match(problems['telegram-2']?.join('\n') ?? '', /twin\/index\.js: there is a platform called telegram already/);
});

test('options of a platform from outside are checked like those of our own', async () => {
  await using home = await newHome({ 'config.yaml': 'platforms:\n  foo:\n    token: x\n    sever: y\n', 'foo/index.js': source() });
  const platforms = platformsFrom([await loadPlatform('./foo', home.path)], []);
  const config = await loadConfig({ home: home.path, env: {}, sections: [], platforms });
  assert.ok(config.ok);
  const [disabled] = config.disabled;
  assert.match(disabled?.problems.map(formatProblem).join('\n') ?? '', /config\.yaml:4.*sever[\s\S]*config\.yaml:3.*platforms\.foo\.token/);
  const fromEnvironment = await loadConfig({ home: `${home.path}/nowhere`, env: { FOO_TOKEN: 'a token' }, sections: [], platforms });
  assert.ok(fromEnvironment.ok);
  assert.deepEqual(fromEnvironment.accounts.map(({ account }) => account), ['foo']);
});
