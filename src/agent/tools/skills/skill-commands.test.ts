import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Skill } from './load-skills.ts';
import { parseSkill } from './parse-skill.ts';
import { skillCommands } from './skill-commands.ts';
import { skillText } from './skills.test-support.ts';

const skill = (name: string): Skill => {
  const read = parseSkill(skillText(name), name);
  assert.ok(read.ok);
  return { ...read.skill, folder: `/skills/${name}`, writable: true };
};

const commands = skillCommands(['review', 'git.flow', 'git-flow', 'c', 'd', 'e', 'f'].map(skill));
const expand = (name: string, args: string): string => commands.find((command) => command.name === name)?.expand(args) ?? '';
const called = (text: string): readonly string[] => [...text.matchAll(/^\[skill (\S+), /gm)].map((match) => match[1] ?? '');

test('every skill is a command, and a name that is taken is not taken again', () => {
  assert.deepEqual(commands.map(({ name }) => name), ['review', 'git-flow', 'c', 'd', 'e', 'f']);
  assert.equal(commands[0]?.description, 'What review does');
});

test('calling it tells the model the instructions and what is wanted', () => {
  const text = expand('review', 'look at main.ts');
  assert.match(text, /^\[I call the skill review\. Follow these instructions/);
  assert.match(text, /\[skill review, in \/skills\/review\]\nHow review is done\.\n\[end of skill review\]/);
  assert.ok(text.endsWith('\n\nlook at main.ts'));
  assert.match(expand('review', ''), /have not said yet what it is for/);
});

test('up to five skills can be called at once', () => {
  assert.deepEqual(called(expand('review', '/git_flow /c ship it')), ['review', 'git.flow', 'c']);
  assert.ok(expand('review', '/git-flow /c ship it').endsWith('\n\nship it'));
  const six = expand('review', '/git-flow /c /d /e /f go');
  assert.deepEqual(called(six), ['review', 'git.flow', 'c', 'd', 'e']);
  assert.ok(six.endsWith('\n\n/f go'));
});

test('what is no skill belongs to what is wanted, and one skill counts once', () => {
  assert.deepEqual(called(expand('review', '/etc/hosts is wrong')), ['review']);
  assert.ok(expand('review', '/unknown x').endsWith('\n\n/unknown x'));
  assert.deepEqual(called(expand('review', '/review twice')), ['review']);
});
