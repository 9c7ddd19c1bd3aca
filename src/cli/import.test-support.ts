import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import type { ImportLine } from '../portability/import-report.ts';
import { program } from './program.ts';

export interface ImportScene {
  /** Our home, which does not exist yet. */
  readonly home: string;
  /** Where the home of the other program is to stand. */
  readonly source: string;
  /** Runs a command in our home; answers what it has written. */
  hermes(...args: readonly string[]): Promise<string>;
  importNow(...args: readonly string[]): Promise<readonly ImportLine[]>;
  textOf(path: string): Promise<string>;
}

/** For every test that follows in the calling file, places for a home of ours and one of the other program, removed afterwards. */
export const importScene = (from: 'hermes' | 'openclaw'): ImportScene => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-import-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const scene: ImportScene = {
    get home() {
      return join(folder, 'home');
    },
    get source() {
      return join(folder, from);
    },
    async hermes(...args) {
      let out = '';
      const write = (text: string): void => void (out += text);
      await program({ env: { HERMES_HOME: scene.home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
      return out;
    },
    importNow: async (...args) => (JSON.parse(await scene.hermes('import', from, scene.source, '--json', ...args)) as { readonly lines: readonly ImportLine[] }).lines,
    textOf: (path) => readFile(join(scene.home, path), 'utf8'),
  };
  return scene;
};

/** What became so of things of an area. */
export const whatOf = (lines: readonly ImportLine[], area: string, fate: string): readonly string[] => lines.filter((line) => line.area === area && line.fate === fate).map(({ what }) => what);
