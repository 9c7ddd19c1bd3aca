import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { program } from './program.ts';

const script = async (shell: string): Promise<string> => {
  let out = '';
  await program({ env: {}, version: 'test', write: (text) => void (out += text), writeError: () => undefined }).parseAsync(['node', 'hermes', 'completion', shell]);
  return out;
};

const bash = '/bin/bash';

test('bash completes commands, subcommands, options and choices', { skip: existsSync(bash) ? false : `${bash} is not here` }, async () => {
  const tries = ['hermes gat', 'hermes sessions ""', 'hermes sessions list --', 'hermes completion f', 'hermes --res', 'hermes config s', 'hermes --json sess'];
  const body = `${await script('bash')}\ntype_() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hermes; echo "\${COMPREPLY[@]}"; }\n${tries.map((line) => `type_ ${line}`).join('\n')}`;
  const { stdout } = await promisify(execFile)(bash, ['-c', body]);
  assert.deepEqual(stdout.trimEnd().split('\n'), ['gateway', 'list show search export delete prune --help', '--limit --account --agent --json --help', 'fish', '--resume', 'show set', 'sessions']);
});

test('zsh and fish get the same words, each with what it means', async () => {
  assert.match(await script('zsh'), /^#compdef hermes\n[\s\S]*\/sessions\) candidates=\('list:The newest conversations'/);
  assert.match(await script('fish'), /complete -c hermes -n '__hermes_at "\/sessions"' -a 'list' -d 'The newest conversations'\n/);
  assert.match(await script('fish'), /complete -c hermes -n '__hermes_at ""' -l query -d /);
});
