import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSkill } from './parse-skill.ts';

const parsed = (text: string) => {
  const read = parseSkill(text, 'folder');
  assert.ok(read.ok, read.ok ? '' : read.reason);
  return read.skill;
};

const reason = (text: string, folder = 'folder'): string => {
  const read = parseSkill(text, folder);
  assert.ok(!read.ok);
  return read.reason;
};

test('a skill says what it is, when it is offered, and what to do', () => {
  const skill = parsed(`---
name: Pull-Requests
description: >
  Opens, reviews
  and merges pull requests
platforms: [linux, macOS, amiga]
required_environment_variables:
  - GITHUB_TOKEN
  - name: GITHUB_HOST
    help: where
metadata:
  hermes:
    tags: [git, review]
    category: work
    requires_toolsets: terminal, file
    fallback_for_tools: [mcp_github_create_pr]
license: MIT
---

# Pull requests

Do this.
`);
  assert.deepEqual(skill, {
    name: 'pull-requests',
    description: 'Opens, reviews and merges pull requests',
    category: 'work',
    tags: ['git', 'review'],
    systems: ['linux', 'macos'],
    variables: ['GITHUB_TOKEN', 'GITHUB_HOST'],
    requiresToolsets: ['terminal', 'file'],
    requiresTools: [],
    fallbackForToolsets: [],
    fallbackForTools: ['mcp_github_create_pr'],
    body: '# Pull requests\n\nDo this.',
  });
});

test('a description is enough; the folder gives the name', () => {
  const { name, description, body } = parsed('---\r\ndescription: Short\r\n---\r\nBody\r\n');
  assert.deepEqual([name, description, body], ['folder', 'Short', 'Body']);
});

test('what is of no use is left aside', () => {
  const skill = parsed('---\ndescription: x\nplatforms: 7\nmetadata: nonsense\nrequired_environment_variables: [{no: name}]\n---\nBody');
  assert.deepEqual([skill.systems, skill.tags, skill.variables], [[], [], []]);
});

test('what is no skill is refused with a reason that helps', () => {
  assert.match(reason('# Only text'), /does not begin with `---`/);
  assert.match(reason('---\nname: x\n---\nBody'), /description is missing/);
  assert.match(reason('---\nname: [a\n---\nBody'), /its YAML cannot be read/);
  assert.match(reason('---\n- a list\n---\nBody'), /its YAML/);
  assert.match(reason('---\nname: ../../etc\ndescription: x\n---\n'), /name is to be a name/);
  assert.match(reason('---\ndescription: x\n---\n', 'Größe'), /cannot be the name of a skill/);
  assert.match(reason(`---\ndescription: x\n---\n${'y'.repeat(100_001)}`), /100000 are the most/);
  assert.match(reason(`---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\ndescription: x\n---\n`), /its YAML cannot be read/);
});
