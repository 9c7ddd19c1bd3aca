import { isSystemPath, isVital } from './path-classes.ts';
import { hasOption, hasWord, operands, pathOf, saysTo, verbs } from './rule.ts';
import type { CommandFacts, Rule } from './rule.ts';
import type { Field, ShellCall } from './shell/call.ts';

const gitValues: readonly string[] = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env'];
const dockerValues: readonly string[] = ['-H', '--host', '--context', '-c', '--config', '-l', '--log-level', '-f', '--file', '-p', '--project-name', '--profile', '--project-directory', '--env-file'];
const kubectlValues: readonly string[] = ['-n', '--namespace', '--context', '--kubeconfig', '-s', '--server', '--user', '--cluster', '--token', '--as'];

const git = (pattern: string, reason: string, when: (call: ShellCall, verb: string) => boolean): Rule => ({
  pattern: `git ${pattern}`,
  reason,
  names: ['git'],
  when: (call) => when(call, verbs(call, gitValues)[0] ?? ''),
});

/** Git and its like: what cannot be had back, or what others will see. */
const gitRules: readonly Rule[] = [
  git('reset --hard', 'throws away changes that were not committed', (call, verb) => verb === 'reset' && hasOption(call, '', 'hard', 'merge', 'keep')),
  git('clean', 'deletes files that git does not know', (call, verb) => verb === 'clean' && hasOption(call, 'f', 'force') && !hasOption(call, 'n', 'dry-run')),
  git('push --force', "replaces or deletes others' work on the server", (call, verb) => verb === 'push' && (hasOption(call, 'fd', 'force', 'force-with-lease', 'force-if-includes', 'delete', 'mirror', 'prune') || operands(call).some((field) => /^[+:]/.test(field.text)))),
  git('checkout --force', 'throws away changes that were not committed', (call, verb) => (verb === 'checkout' || verb === 'switch') && (hasOption(call, 'f', 'force', 'discard-changes') || (verb === 'checkout' && hasWord(call, '--', '.')))),
  git('restore', 'throws away changes that were not committed', (call, verb) => verb === 'restore' && (!hasOption(call, 'S', 'staged') || hasOption(call, 'W', 'worktree'))),
  git('branch -D', 'deletes a branch or tag', (call, verb) => (verb === 'branch' && (hasOption(call, 'D') || (hasOption(call, 'd', 'delete') && hasOption(call, 'f', 'force')))) || (verb === 'tag' && hasOption(call, 'd', 'delete'))),
  git('stash drop', 'throws away stashed changes', (call, verb) => verb === 'stash' && hasWord(call, 'drop', 'clear')),
  git('rewrite history', 'rewrites or expires history', (call, verb) => ['filter-branch', 'filter-repo', 'update-ref', 'replace', 'prune'].includes(verb) || (verb === 'reflog' && hasWord(call, 'expire', 'delete')) || (verb === 'gc' && hasOption(call, '', 'prune', 'aggressive'))),
  git('remove', 'removes a worktree, submodule or remote by force', (call, verb) => (verb === 'worktree' && hasWord(call, 'remove') && hasOption(call, 'f', 'force')) || (verb === 'submodule' && hasWord(call, 'deinit')) || (verb === 'rm' && hasOption(call, 'rf', 'force'))),
  git('config --global', "changes the user's git settings", (call, verb) => verb === 'config' && hasOption(call, '', 'global', 'system') && operands(call).length > 2),
  { pattern: 'gh delete', reason: 'deletes something on the server', names: ['gh', 'glab', 'hub'], when: (call) => hasWord(call, 'delete', 'archive', 'rename', 'transfer') || (hasWord(call, 'api') && call.args.some((field) => /^(?:DELETE|PUT|PATCH|POST)$/i.test(field.text))) },
];

/** `-v host:inside`, `--mount type=bind,source=host,…`: what of the machine a container gets. */
const mounted = (call: ShellCall): readonly Field[] =>
  call.args.flatMap((field, at) => {
    const before = call.args[at - 1]?.text ?? '';
    const glued = /^(?:--volume=|--mount=|-v(?=.))/.exec(field.text);
    if (glued === null && !/^(?:-v|--volume|--mount)$/.test(before)) return [];
    const text = field.text.slice(glued?.[0].length ?? 0);
    return [{ ...field, text: /(?:source|src)=([^,]*)/.exec(text)?.[1] ?? text.split(':')[0] ?? '' }];
  });

const mountsTheMachine = (call: ShellCall, facts: CommandFacts): boolean =>
  mounted(call).some((field) => {
    const path = field.text.startsWith('/') || field.text.startsWith('~') ? pathOf(field, call, facts) : '';
    return path !== '' && (isVital(path, facts.home) || isSystemPath(path) || path.endsWith('/docker.sock'));
  });

/** Containers, clusters and clouds. */
const fleetRules: readonly Rule[] = [
  {
    pattern: 'docker stop',
    reason: 'stops or removes containers, images or volumes',
    names: ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose'],
    when: (call) =>
      saysTo(call, ['stop|kill|restart|rm|rmi|pause|prune', 'container|image|volume|network|system|builder|buildx|compose|stack|service|context|node|swarm|pod|machine stop|kill|restart|rm|remove|prune|down|leave|delete|update', 'down'], dockerValues) || (call.name.endsWith('-compose') && hasWord(call, 'down', 'stop', 'kill', 'rm', 'restart')),
  },
  {
    pattern: 'docker as root',
    reason: 'gives a container power over the machine',
    names: ['docker', 'podman', 'nerdctl'],
    when: (call, facts) => hasOption(call, '', 'privileged', 'cap-add', 'device') || call.args.some((field) => /^--(?:pid|net|network|ipc|uts|userns)=host$/.test(field.text)) || mountsTheMachine(call, facts),
  },
  { pattern: 'docker elsewhere', reason: 'works on another machine', names: ['docker', 'podman', 'nerdctl'], when: (call) => hasOption(call, 'H', 'host', 'context', 'remote', 'connection', 'url') || call.assignments.some(([name]) => /^(?:DOCKER|CONTAINER)_(?:HOST|CONTEXT)$/.test(name)) },
  { pattern: 'kubectl', reason: 'changes a cluster', names: ['kubectl', 'oc', 'k3s'], when: (call) => verbs(call, kubectlValues).slice(0, 2).some((verb) => ['delete', 'drain', 'cordon', 'taint', 'replace', 'scale', 'patch', 'edit', 'apply', 'set', 'rollout', 'evict', 'annotate', 'label', 'create'].includes(verb)) && !hasWord(call, 'status', 'history') && !hasOption(call, '', 'dry-run') },
  { pattern: 'helm', reason: 'changes a cluster', names: ['helm', 'helmfile', 'argocd', 'flux'], when: (call) => hasWord(call, 'uninstall', 'delete', 'rollback', 'upgrade', 'install', 'destroy', 'sync', 'apply') },
  { pattern: 'terraform', reason: 'changes infrastructure', names: ['terraform', 'tofu', 'terragrunt', 'pulumi', 'cdk', 'serverless', 'sls', 'ansible', 'ansible-playbook'], when: (call) => call.name.startsWith('ansible') || hasWord(call, 'destroy', 'apply', 'up', 'deploy', 'remove', 'import', 'taint', 'rm') },
  { pattern: 'cloud', reason: 'deletes or stops something in the cloud', names: ['aws', 'gcloud', 'az', 'doctl', 'heroku', 'fly', 'flyctl', 'vercel', 'netlify', 'wrangler', 'gsutil', 'hcloud', 'linode-cli', 'railway', 'firebase'], when: (call) => call.args.some((field) => /^(?:rm|rb|remove|delete|destroy|terminate|stop|purge|detach|revoke|disable|reset)(?:$|[-:])|(?:^|[-:])(?:delete|destroy|terminate|remove|reset)$/.test(field.text)) },
];

const sqlTools: readonly string[] = ['psql', 'mysql', 'mariadb', 'sqlite3', 'sqlcmd', 'mysqlsh', 'pgcli', 'mycli', 'duckdb', 'clickhouse-client', 'clickhouse', 'cockroach', 'bq', 'snowsql', 'usql', 'sqlplus', 'turso', 'wrangler'];

/** Everything that a database client is told on its line or through its input. */
const toldText = (call: ShellCall): string => {
  const { input } = call;
  const piped = input.type === 'text' ? input.text : input.type === 'pipe' ? input.from.flatMap((source) => source.args.map((field) => field.text)).join(' ') : '';
  return [...call.args.map((field) => field.text), piped].join('\n');
};

/** Statements that lose data for good. */
export const losesData = (text: string): boolean =>
  text
    .replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .split(';')
    .some((statement) => /\b(?:drop\s+(?:table|database|schema|view|index|user|role|column|type|function|trigger|tablespace)|truncate)\b/i.test(statement) || (/\bdelete\s+from\b/i.test(statement) && !/\bwhere\b/i.test(statement)) || (/\bupdate\s+\S+\s+set\b/i.test(statement) && !/\bwhere\b/i.test(statement)));

const databaseRules: readonly Rule[] = [
  { pattern: 'SQL that deletes', reason: 'deletes data or tables', names: sqlTools, when: (call) => losesData(toldText(call)) },
  { pattern: 'dropdb', reason: 'deletes a database or its users', names: ['dropdb', 'dropuser', 'pg_dropcluster', 'pg_resetwal', 'initdb'] },
  { pattern: 'dropdb', reason: 'deletes a database', names: ['mysqladmin', 'mariadb-admin'], when: (call) => hasWord(call, 'drop', 'shutdown', 'flush-hosts') },
  { pattern: 'redis flush', reason: 'deletes everything in Redis, or stops it', names: ['redis-cli', 'valkey-cli', 'keydb-cli'], when: (call) => /\b(?:flushall|flushdb|shutdown|debug|config\s+set|eval|script)\b/i.test(toldText(call)) },
  { pattern: 'mongo drop', reason: 'deletes data in MongoDB', names: ['mongosh', 'mongo', 'mongorestore'], when: (call) => hasOption(call, '', 'drop') || /\b(?:dropDatabase|drop|deleteMany|remove|shutdownServer)\s*\(/i.test(toldText(call)) },
  { pattern: 'migrate reset', reason: 'throws a database away and makes it anew', names: ['*'], when: (call) => call.args.some((field) => /^(?:db:(?:drop|reset|purge|wipe|migrate:reset|schema:load)|migrate:(?:fresh|reset|refresh))$/.test(field.text)) || (hasWord(call, 'migrate', 'db', 'database') && hasWord(call, 'reset', 'flush', 'drop', '--force-reset') && hasWord(call, 'prisma', 'sequelize', 'knex', 'manage.py', 'drizzle-kit', 'reset_db')) },
];

/** What reaches beyond the machine, or cannot be had back from a repository or a database. */
export const workRules: readonly Rule[] = [...gitRules, ...fleetRules, ...databaseRules];
