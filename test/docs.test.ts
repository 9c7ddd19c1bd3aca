import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { platforms } from '../src/platforms/registry.ts';
import { refresh, root } from './support/generated-docs.ts';

const pages = ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root })];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

test('generated parts of the documentation say what the schemas say (npm run docs mends it)', () => {
  for (const page of pages) assert.equal(textOf(page), refresh(textOf(page)), page);
});

test('every platform has a page', () => {
  for (const platform of platforms) assert.ok(existsSync(join(root, 'docs', 'platforms', `${platform.name}.md`)), platform.name);
});

test('links between pages lead somewhere', () => {
  for (const page of pages) {
    for (const [, target] of textOf(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)) {
      assert.ok(existsSync(join(root, dirname(page), target ?? '')), `${page} links to ${target}`);
    }
  }
});
