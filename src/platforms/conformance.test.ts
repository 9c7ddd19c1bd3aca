import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openStoredData } from '../../test/support/stored-data.ts';
import { NotOffered, openBench } from './conformance-bench.ts';
import { clauses } from './conformance.ts';
import type { Clause } from './conformance-bench.ts';
import type { Platform } from './contract.ts';
import { platforms } from './registry.ts';

/** Runs one clause on a bench of its own; answers why it does not apply, if so. */
const tryOut = async (platform: Platform, variant: string | undefined, clause: Clause): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-conformance-'));
  try {
    await using data = await openStoredData(folder);
    await using bench = await openBench(platform, { data, folder, variant });
    await clause(bench);
    return undefined;
  } catch (error) {
    if (error instanceof NotOffered) return error.message;
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
};

for (const platform of platforms) {
  test(`${platform.name} makes exceptions only of clauses that exist`, () => {
    assert.deepEqual(
      Object.keys(platform.exceptions).filter((name) => !(name in clauses)),
      [],
    );
  });

  for (const variant of [undefined, ...(platform.variants ?? [])]) {
    describe(variant === undefined ? platform.name : `${platform.name} (${variant})`, () => {
      for (const [name, clause] of Object.entries(clauses)) {
        test(name, { skip: platform.exceptions[name] ?? false }, async (t) => {
          const missing = await tryOut(platform, variant, clause);
          if (missing !== undefined) t.skip(missing);
        });
      }
    });
  }
}
