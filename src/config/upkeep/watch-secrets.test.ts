import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../load-config.ts';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import { changeOf, problemsOf, watchHome } from './watch-config.test-support.ts';
import type { Change } from './watch-config.test-support.ts';

test('a secret that changes in its own file is taken over, also behind a link and in a folder that did not exist', async () => {
  await using home = await temporaryHome();
  await using vault = await temporaryHome();
  await vault.write('token', '111:first\n');
  await symlink(join(vault.path, 'token'), join(home.path, 'link'));
  await home.write('config.yaml', 'platforms: { telegram: { token_file: link } }\n');
  await using watched = await watchHome(home);
  const tokens = ({ config }: Change): unknown => config.accounts.filter(({ platform }) => platform === 'telegram').map(({ options }) => (options as { token: string }).token);
  // The watch of the secret begins with the first look at the configuration.
  await home.write('config.yaml', 'model: a\nplatforms: { telegram: { token_file: link } }\n');
  changeOf(await watched.next());
  await vault.write('token', '222:second\n');
  const change = changeOf(await watched.next());
  assert.deepEqual(change.accounts.changed, ['telegram']);
  assert.deepEqual(tokens(change), ['222:second']);
  await mkdir(join(home.path, 'new'));
  await writeFile(join(home.path, 'new', 'token'), '333:third');
  await home.write('config.yaml', 'model: a\nplatforms: { telegram: { token_file: new/token } }\n');
  assert.deepEqual(tokens(changeOf(await watched.next())), ['333:third']);
  await rename(join(vault.path, 'token'), join(home.path, 'new', 'token'));
  assert.deepEqual(tokens(changeOf(await watched.next())), ['222:second']);
});

test('a secret file that is gone leaves the account as it was', async () => {
  await using home = await temporaryHome();
  await home.write('token', '111:first\n');
  await home.write('config.yaml', 'platforms: { telegram: { token_file: token } }\n');
  await using watched = await watchHome(home);
  await rm(join(home.path, 'token'));
  assert.match(problemsOf(await watched.next()).join('\n'), /the file .*token does not exist/);
  await home.write('token', '222:second\n');
  assert.deepEqual(changeOf(await watched.next()).accounts.changed, ['telegram']);
});

test('a command is asked again when one of the two files is written, and not when a secret in a file changes', async () => {
  await using home = await temporaryHome();
  const asked = join(home.path, 'asked');
  await writeFile(asked, '');
  await home.write('ask.mjs', `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(asked)}, 'x');\nconsole.log('a-key-of-the-model');\n`);
  await home.write('token', '111:first\n');
  const config = (port: number): string => `http: { port: ${port} }\nmodel: { api_key_cmd: ${JSON.stringify(`${JSON.stringify(process.execPath)} ask.mjs`)} }\nplatforms: { telegram: { token_file: token } }\n`;
  const count = async (): Promise<number> => (await readFile(asked, 'utf8')).length;
  await home.write('config.yaml', config(1));
  await using watched = await watchHome(home);
  await home.write('config.yaml', config(2));
  const { commands } = changeOf(await watched.next());
  assert.equal(await count(), 2);
  await home.write('token', '222:second\n');
  assert.deepEqual(changeOf(await watched.next()).accounts.changed, ['telegram']);
  assert.equal(await count(), 2);
  const again = await loadConfig({ home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms, commands });
  assert.equal(again.ok && again.sections.model.api_key, 'a-key-of-the-model');
  assert.equal(await count(), 2);
});
