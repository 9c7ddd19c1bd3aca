import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { evaluate } from '../../config/evaluate.ts';
import { gatewaySections } from '../settings.ts';
import type { GatewaySettings } from '../settings.ts';
import { contextOfJob, jobFolders } from './job-folders.ts';
import type { JobFoldersDeps } from './job-folders.ts';

const settingsOf = (config: Readonly<Record<string, unknown>>): GatewaySettings => {
  const loaded = evaluate({ env: {}, sections: gatewaySections, platforms: [] }, { config: JSON.stringify(config), env: undefined }).config;
  return loaded.ok ? loaded.sections : assert.fail(JSON.stringify(loaded.problems));
};

interface Ground extends AsyncDisposable, JobFoldersDeps {
  readonly root: string;
  /** `found`, or the reason. */
  ask(written: string, agent?: string): Promise<string>;
}

/** A person’s folder with a home of the gateway in it, a project that agents may use, and one that they may not. */
const newGround = async (config: (root: string) => Readonly<Record<string, unknown>> = () => ({})): Promise<Ground> => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-folders-')));
  for (const path of ['home/profiles/helper/workspace', 'home/workspace/site', 'project/.git', 'project/app', 'library', 'private', 'programs/app']) await mkdir(join(root, path), { recursive: true });
  const settings = settingsOf({ agents: { helper: {}, coder: { kind: 'acp', command: ['coder'], cwd: '~/programs' } }, files: { roots: ['~/project'], read_roots: [join(root, 'library')] }, ...config(root) });
  const deps: JobFoldersDeps = { home: join(root, 'home'), userHome: root, settings: () => settings };
  const find = jobFolders(deps);
  return {
    ...deps,
    root,
    async ask(written, agent = 'main') {
      const found = await find(agent, written);
      return found.type === 'found' ? `found ${found.path}` : found.problem;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
};

test('a job works in any folder that the agent may read', async () => {
  await using ground = await newGround();
  const { root, ask } = ground;
  for (const path of ['project', 'project/app', 'library', 'home/workspace/site']) assert.equal(await ask(join(root, path)), `found ${join(root, path)}`);
  assert.equal(await ask(' ~/project/app '), `found ${root}/project/app`);
  assert.equal(await ask(join(root, 'home/profiles/helper/workspace'), 'helper'), `found ${root}/home/profiles/helper/workspace`);
  assert.equal(await ask('~/programs/app', 'coder'), `found ${root}/programs/app`);
});

test('every other folder is refused with what can be done about it', async () => {
  await using ground = await newGround();
  const { root, ask } = ground;
  await writeFile(join(root, 'project', 'file'), '');
  await symlink(join(root, 'private'), join(root, 'project', 'out'));
  for (const [written, reason, agent] of [
    ['app', /is an absolute path such as \/home\/ada\/project, not "app"/],
    ['~ada/app', /is an absolute path/],
    ['/project\0', /no path has/],
    [join(root, 'private'), /is outside the folders that file tools may use .*The owner can add folders with `files\.roots`/],
    [join(root, 'project', '..', 'private'), /is outside the folders/],
    [join(root, 'project', 'out'), /is outside the folders/],
    [join(root, 'programs', 'app'), /is outside the folders/],
    [join(root, 'project', 'nothing'), /does not exist\. Make it, or name another\.$/],
    [join(root, 'project', 'file'), /is no folder/],
    [join(root, 'project', 'file', 'x'), /a part of its path is a file/],
    [join(root, 'home', 'profiles', 'helper', 'workspace'), /belongs to another agent/],
    [join(root, 'home', 'workspace'), /belongs to the gateway, not to this agent/, 'helper'],
    ['/proc/self', /never touch/],
  ] as const) assert.match(await ask(written, agent), reason, written);
});

test('a folder that may not be entered is none', { skip: process.getuid?.() === 0 && 'root may enter every folder' }, async () => {
  await using ground = await newGround();
  const path = join(ground.root, 'project', 'app');
  await chmod(path, 0o000);
  assert.match(await ground.ask(path), /may not be accessed/);
  await chmod(path, 0o700);
});

test('the project of the folder is read, up to where its repository begins and not beyond what is allowed', async () => {
  await using ground = await newGround((root) => ({ files: { roots: [join(root, 'project', 'app')], read_roots: [] } }));
  const { root } = ground;
  const app = join(root, 'project', 'app');
  await writeFile(join(root, 'project', 'HERMES.md'), 'Of the repository.');
  await writeFile(join(app, 'AGENTS.md'), 'Of the app.');
  assert.equal((await contextOfJob(ground, 'main', app))?.text, 'Of the app.');
  const wide: JobFoldersDeps = { ...ground, settings: () => settingsOf({ files: { roots: [join(root, 'project')] } }) };
  assert.equal((await contextOfJob(wide, 'main', app))?.text, 'Of the repository.');
});

test('a folder that was exchanged for a way out says nothing', async () => {
  await using ground = await newGround();
  const { root } = ground;
  const app = join(root, 'project', 'app');
  await writeFile(join(root, 'private', 'AGENTS.md'), 'Private.');
  await rename(app, `${app}-before`);
  await symlink(join(root, 'private'), app);
  assert.equal(await contextOfJob(ground, 'main', app), undefined);
});
