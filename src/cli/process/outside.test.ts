import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { temporaryHome } from '../../config/sample-config.ts';
import { keepAlways } from '../../gateway/keep-always.ts';
import { outsideOf } from './outside.ts';

test('what is allowed for good at the same moment is all written down, whatever the gateway has read of it so far', async () => {
  await using home = await temporaryHome();
  const terminal = { env: { HERMES_HOME: home.path }, version: 'test', write: () => undefined, writeError: () => undefined };
  const keep = (known: readonly string[], patterns: readonly string[]): Promise<string | undefined> => keepAlways(outsideOf(terminal, home.path).changeSetting, known, patterns);
  assert.deepEqual(await Promise.all([keep([], ['git push', 'sudo']), keep([], ['dd'])]), [undefined, undefined]);
  assert.equal(await keep(['sudo'], ['sudo', 'yes']), undefined);
  const written = parse(await readFile(join(home.path, 'config.yaml'), 'utf8')) as { readonly command_allowlist: readonly unknown[] };
  assert.deepEqual(written.command_allowlist.toSorted(), ['dd', 'git push', 'sudo', 'yes']);
});
