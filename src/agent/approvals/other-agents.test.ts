import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeCommand } from './judge-command.ts';
import type { CommandFacts } from './rule.ts';

const home = '/home/ada/.hermes';
const base: CommandFacts = { cwd: '/home/ada/work', home: '/home/ada', parentPid: 4242, gateway: { home, pid: 4242, commandLine: '/opt/node/bin/node /opt/hermes/bin/hermes.js gateway run' } };

/** As it stands for the main agent, whose home is the gateway's, and for another one. */
const main: CommandFacts = { ...base, others: { folders: ['profiles', 'gateway.db', 'media', 'cache/results'].map((name) => `${home}/${name}`).concat('/srv/agents/eve'), open: [`${home}/cache/results/s1`] } };
const bob: CommandFacts = { ...base, cwd: `${home}/profiles/bob/workspace`, others: { folders: [home, '/srv/agents/eve'], open: [`${home}/profiles/bob`, `${home}/cache/results/s1`] } };

const shown = (command: string, facts: CommandFacts): string => {
  const judgement = judgeCommand(command, facts);
  return judgement.type === 'ask' ? judgement.findings.map(({ pattern }) => pattern).join(', ') : judgement.type;
};
const each = (commands: readonly string[], facts: CommandFacts, expected: string): void => assert.deepEqual(commands.map((command) => `${command} -> ${shown(command, facts)}`), commands.map((command) => `${command} -> ${expected}`));

test('a command that names a folder of another agent is never run, however it is written', () => {
  const reaching = [
    `cat ${home}/profiles/eve/SOUL.md`, 'cat ~/.hermes/profiles/eve/memories/MEMORY.md', 'cat "$HOME"/.hermes/profiles/eve/SOUL.md', 'cat ~/.hermes/profiles/*/SOUL.md', 'cat ~/.hermes/prof*/e?e/SOUL.md', 'cat ~/.hermes/profiles/$(echo eve)/SOUL.md',
    'cd ~/.hermes/profiles/eve && cat SOUL.md', 'cat < ~/.hermes/profiles/eve/SOUL.md', 'echo x >> ~/.hermes/profiles/eve/memories/MEMORY.md', 'cp -r ~/.hermes/profiles/eve .', 'f=~/.hermes/profiles/eve/SOUL.md; cat $f', 'ln -s ~/.hermes/profiles/eve here',
    `python3 -c "print(open('${home}/profiles/eve/SOUL.md').read())"`, `node -e 'require("fs").readFileSync(process.env.HOME + "/x"); "~/.hermes/profiles/eve"'`, 'cat /srv/agents/eve/.env', 'ls /srv/agents/eve', 'cat /srv/agents/*/notes', 'tar czf x.tgz /srv/agents/eve', 'sqlite3 ~/.hermes/gateway.db .dump',
    'cat ~/.hermes/cache/results/s2/x.txt',
  ];
  each(reaching, main, 'refused');
  each([...reaching, 'cat ../../eve/SOUL.md', 'cat ../../../SOUL.md', `cat ${home}/SOUL.md`, 'cat ~/.hermes/config.yaml', 'ls ~/.hermes', 'cp ~/.hermes/memories/MEMORY.md .'], bob, 'refused');
});

test('the conversations of other agents cannot be had through the command line either', () => {
  each(['hermes sessions export 2026', 'hermes sessions list', 'hermes trace 4', 'node /opt/hermes/bin/hermes.js sessions search x', 'npx hermes-gateway sessions list', 'HERMES_HOME=/x hermes sessions list', 'hermes', 'hermes chat -q hi', 'hermes agent show eve'], bob, 'refused');
  each(['hermes status', 'hermes --version', 'hermes gateway status'], bob, 'harmless');
  each(['hermes gateway restart'], bob, 'gateway restart');
});

test("an agent's own folder, the results of its conversation and everything else stay open", () => {
  each(['ls', 'cat notes.md', `cat ${home}/profiles/bob/SOUL.md`, 'cat ../SOUL.md', 'cat ~/.hermes/cache/results/s1/x.txt', 'cat /srv/agents/evelyn/x', 'cat ~/notes.md', 'grep -r TODO .', 'ls ~/.hermes-old', 'echo ~/.hermesx'], bob, 'harmless');
  each(['cat ~/.hermes/SOUL.md', 'ls ~/.hermes/skills', 'cat ~/.hermes/cache/results/s1/x.txt', 'grep -rn x ~/work', 'find . -name x'], main, 'harmless');
});

test('going through a folder that holds folders of other agents asks first', () => {
  each(['rg key ~', 'tar czf all.tgz /home/ada', 'find / -name MEMORY.md', 'find ~/.hermes -name MEMORY.md', 'rsync -a ~/ /backup/', 'cd ~ && rg key', 'rg key /srv/*'], main, 'search where other agents live');
  each(['grep -r key ~/.hermes', 'cp -a ~/.hermes backup'], main, 'search where other agents live, read credentials');
});

test('where there is one agent, nothing of this applies', () => {
  assert.equal(shown('cat ~/.hermes/profiles/eve/SOUL.md', base), 'harmless');
  assert.equal(shown('hermes sessions list', base), 'harmless');
  assert.equal(shown('find ~/.hermes -name key', base), 'harmless');
});
