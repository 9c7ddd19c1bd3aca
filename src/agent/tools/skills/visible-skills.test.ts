import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tool } from '../../turn.test-support.ts';
import type { ToolGroup } from '../toolsets.ts';
import type { Skill } from './load-skills.ts';
import { parseSkill } from './parse-skill.ts';
import { skillText } from './skills.test-support.ts';
import { skillsIndex, visibleSkills } from './visible-skills.ts';

const skill = (name: string, yaml = '', description = 'Short'): Skill => {
  const read = parseSkill(skillText(name, { yaml, description }), name);
  assert.ok(read.ok);
  return { ...read.skill, folder: `/skills/${name}`, writable: true };
};

const groups: readonly ToolGroup[] = [{ toolset: 'terminal', tools: [tool('terminal', async () => '')] }, { toolset: 'web', tools: [tool('web_fetch', async () => '')] }];

const visible = (...skills: readonly Skill[]): readonly string[] => visibleSkills(skills, groups, 'linux').map(({ name }) => name);

test('a skill for another system is not shown', () => {
  assert.deepEqual(visible(skill('any'), skill('here', 'platforms: [linux, windows]\n'), skill('apple', 'platforms: [macos]\n')), ['any', 'here']);
});

test('a skill is shown only with the tools it needs', () => {
  const needs = (what: string): string => `metadata:\n  hermes:\n    ${what}\n`;
  assert.deepEqual(
    visible(skill('a', needs('requires_toolsets: [terminal, web]')), skill('b', needs('requires_toolsets: [terminal, file]')), skill('c', needs('requires_tools: [web_fetch]')), skill('d', needs('requires_tools: [web_search]'))),
    ['a', 'c'],
  );
});

test('a skill that stands in for tools is shown only without them', () => {
  const standsIn = (what: string): string => `metadata:\n  hermes:\n    ${what}\n`;
  assert.deepEqual(visible(skill('a', standsIn('fallback_for_toolsets: [web]')), skill('b', standsIn('fallback_for_toolsets: [browser]')), skill('c', standsIn('fallback_for_tools: [web_fetch]'))), ['b']);
});

test('the index has one line for each skill and the same bytes each time', () => {
  const skills = [skill('alpha', '', '"First: does it"'), skill('beta', '', `Second ${'long '.repeat(100)}`)];
  const index = skillsIndex(skills) ?? '';
  assert.equal(index, skillsIndex(skills));
  const lines = index.split('\n').filter((line) => line.startsWith('- '));
  assert.deepEqual(lines.map((line) => line.slice(0, 20)), ['- alpha: First: does', '- beta: Second long ']);
  assert.ok(lines.every((line) => line.length <= 180));
  assert.equal(skillsIndex([]), undefined);
});

test('a long index is cut and says how much is missing', () => {
  const index = skillsIndex(Array.from({ length: 300 }, (_, number) => skill(`skill-${number}`, '', 'words '.repeat(20)))) ?? '';
  assert.ok(index.length < 8_200);
  const shown = index.split('\n').filter((line) => line.startsWith('- ')).length;
  assert.match(index, new RegExp(`… and ${300 - shown} more; skills_list`));
});
