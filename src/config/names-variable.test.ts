import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { evaluate } from './evaluate.ts';
import { formatProblem } from './problem.ts';
import { defineSection } from './section.ts';
import { settingsAsYaml } from './settings/show-settings.ts';

const sections = [defineSection('lock', z.object({ key_env: z.string().min(4).optional().describe('Where the key is').meta({ secret: true, namesVariable: true }) }).prefault({}), 'live')] as const;

const read = (config: string, env: Readonly<Record<string, string>> = {}) => evaluate({ env, sections, platforms: [] }, { config, env: undefined }).config;

test('a setting that names a variable is what the variable holds, and shows neither', () => {
  const config = read('lock: { key_env: MY_KEY }', { MY_KEY: 'held-in-a-variable' });
  assert.ok(config.ok);
  assert.equal(config.sections.lock.key_env, 'held-in-a-variable');
  assert.doesNotMatch(settingsAsYaml(config.settings), /held-in-a-variable/);
});

test('a variable that is not set, and what cannot be one, are reported where they are named', () => {
  const complaint = (config: string): string => {
    const loaded = read(config);
    assert.ok(!loaded.ok);
    return formatProblem(loaded.problems[0]!);
  };
  assert.match(complaint('lock:\n  key_env: MY_KEY'), /config\.yaml:2.*lock\.key_env.*the variable MY_KEY is not set/);
  assert.match(complaint('lock: { key_env: "not a name" }'), /must be the name of a variable/);
  const nothing = read('lock: { key_env: "" }');
  assert.ok(nothing.ok && nothing.sections.lock.key_env === undefined);
});
