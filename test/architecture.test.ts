import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Lower floors know nothing of higher ones. Folders of one floor may use each other, as long as no circle arises. */
const floors: readonly (readonly string[])[] = [
  ['core', 'lib'],
  ['config', 'store', 'hooks', 'platforms'],
  ['access', 'routing', 'sessions', 'commands', 'agent', 'delivery', 'cron', 'portability'],
  ['gateway'],
  ['http'],
  ['cli'],
];

/** `config` says how a section is declared; whoever has settings may use that, and nothing else of it. */
const declaring = new Set(['src/config/section.ts', 'src/config/read-accounts.ts', 'src/config/variables.ts']);

const floorOf = (folder: string): number => floors.findIndex((names) => names.includes(folder));

interface Import {
  readonly file: string;
  readonly specifier: string;
  /** Relative to the root, when it is one of ours. */
  readonly target: string | undefined;
}

const isTest = (file: string): boolean => /\.test\.ts$|\.test-support\.ts$/.test(file);

const importsOf = (file: string): Import[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s*['"]([^'"]+)['"]/g)];
  return found.map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const target = specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : undefined;
    return { file, specifier, target };
  });
};

const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !isTest(file));
const imports = sources.flatMap(importsOf);
const folderOf = (file: string): string => file.split('/')[1] ?? '';
const named = (list: readonly Import[]): string[] => list.map(({ file, specifier }) => `${file} imports ${specifier}`);

test('every source file lies in one of the known folders', () => {
  const strange = sources.filter((file) => floorOf(folderOf(file)) === -1);
  assert.deepEqual(strange, []);
});

test('imports go from higher floors to lower ones', () => {
  const upward = imports.filter(({ file, target }) => {
    if (target === undefined || !target.startsWith('src/')) return false;
    return floorOf(folderOf(target)) > floorOf(folderOf(file));
  });
  assert.deepEqual(named(upward), []);
});

test('core and lib know nothing of each other but plain words', () => {
  const wrong = imports.filter(({ file, target }) => folderOf(file) === 'lib' && target !== undefined && folderOf(target) !== 'lib');
  assert.deepEqual(named(wrong), []);
  const core = imports.filter(({ file, target }) => folderOf(file) === 'core' && target !== undefined && folderOf(target) !== 'core');
  assert.deepEqual(named(core), []);
});

test('config knows no section, and others use of it only how sections are declared', () => {
  const outward = imports.filter(({ file, target }) => folderOf(file) === 'config' && target !== undefined && !['config', 'core', 'lib'].includes(folderOf(target)) && target !== 'src/platforms/account-options.ts' && target !== 'src/platforms/contract.ts');
  assert.deepEqual(named(outward), []);
  const inward = imports.filter(({ file, target }) => target !== undefined && folderOf(target) === 'config' && folderOf(file) !== 'config' && folderOf(file) !== 'cli' && !declaring.has(target));
  assert.deepEqual(named(inward), []);
});

test('a platform imports no other platform', () => {
  const platformOf = (file: string): string | undefined => /^src\/platforms\/([^/]+)\//.exec(file)?.[1];
  const wrong = imports.filter(({ file, target }) => {
    const from = platformOf(file);
    const to = target === undefined ? undefined : platformOf(target);
    return from !== undefined && to !== undefined && from !== to;
  });
  assert.deepEqual(named(wrong), []);
});

test('nobody but the registry names a platform, and the command line a client of one', () => {
  const wrong = imports.filter(({ file, target }) => target !== undefined && !(file.startsWith('src/cli/') && /^src\/platforms\/[^/]+\/client\.ts$/.test(target)) && /^src\/platforms\/[^/]+\//.test(target) && !/^src\/platforms\/[^/]+\//.test(file) && file !== 'src/platforms/registry.ts');
  assert.deepEqual(named(wrong), []);
});

test('only the store imports a database driver', () => {
  const drivers = new Set(['pg', 'node:sqlite', 'kysely']);
  // A lock of the kernel is taken through SQLite, which is the only way that Node has to it; nothing is stored there.
  const wrong = imports.filter(({ file, specifier }) => drivers.has(specifier) && folderOf(file) !== 'store' && file !== 'src/lib/kernel-lock.ts');
  assert.deepEqual(named(wrong), []);
});

test('only config reads the environment of the process', () => {
  const wrong = sources.filter((file) => folderOf(file) !== 'config' && /process\.env\b/.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(wrong, []);
});

test('no file of the program imports a test or what only tests use', () => {
  const wrong = imports.filter(({ target }) => target !== undefined && (isTest(target) || target.startsWith('test/') || target.startsWith('bench/')));
  assert.deepEqual(named(wrong), []);
});

test('optional libraries are loaded only when they are used', () => {
  const lazy = new Set(['pg', 'grammy', 'vite', '@matrix-org/matrix-sdk-crypto-wasm', 'fake-indexeddb']);
  const eager = imports.filter(({ file, specifier }) => {
    if (!lazy.has(specifier)) return false;
    const text = readFileSync(join(root, file), 'utf8');
    return new RegExp(`(?:^|\\n)import (?!type )[^'"]*['"]${specifier}['"]`).test(text) && !['src/store/engines/postgres.ts', 'src/store/engines/postgres-pool.ts', 'src/store/copies/transfer.ts'].includes(file);
  });
  assert.deepEqual(named(eager), []);
});
