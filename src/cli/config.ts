import { styleText } from 'node:util';
import { Command } from 'commander';
import type { LoadedConfig, ValidConfig } from '../config/evaluate.ts';
import { resolveHome } from '../config/home.ts';
import { configFiles, loadConfig } from '../config/load-config.ts';
import { formatPlace, formatProblem } from '../config/problem.ts';
import type { Problem } from '../config/problem.ts';
import type { PlatformFacts } from '../config/read-accounts.ts';
import type { Section } from '../config/section.ts';
import { setSetting } from '../config/settings/set-setting.ts';
import type { SetOutcome } from '../config/settings/set-setting.ts';
import { settingsAsJson, settingsAsYaml } from '../config/settings/show-settings.ts';
import { migrateConfig, movedText } from '../config/upkeep/migrate-config.ts';
import type { Migration } from '../config/upkeep/migrate-config.ts';
import type { Environment } from '../config/variables.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { holderOf } from './gateway/process.ts';
import { noteAct } from './note-act.ts';

export interface ConfigCommandDeps {
  readonly sections: readonly Section[];
  readonly platforms: readonly PlatformFacts[];
  readonly env: Environment;
  write(text: string): void;
  writeError(text: string): void;
  /** What `write` ends in; colours appear only when it is a terminal that wants them. */
  readonly stream?: NodeJS.WriteStream;
}

/** `hermes config check|show|path|set|migrate`. A configuration that cannot be used ends in a `ConfigError` after its problems are printed. */
export const configCommand = (deps: ConfigCommandDeps): Command => {
  const home = resolveHome(deps.env);
  const options = { home, env: deps.env, sections: deps.sections, platforms: deps.platforms };
  const command = new Command('config').description('Check, show and change the configuration').configureOutput({ writeOut: deps.write, writeErr: deps.writeError });
  command
    .command('check')
    .description('Say what is wrong with config.yaml, .env and the environment')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('hermes config check', 'hermes config check --json'))
    .action(async (flags: { json?: true }) => check(deps, await loadConfig(options), { home, json: flags.json === true }));
  command
    .command('show')
    .description('Print the configuration in force, with the source of each value; secrets are masked')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('hermes config show', 'hermes config show --json'))
    .action(async (flags: { json?: true }) => show(deps, await loadConfig(options), flags.json === true));
  command
    .command('path')
    .description('Print where the files are')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('hermes config path'))
    .action((flags: { json?: true }) => printPaths(deps, home, flags.json === true));
  command
    .command('set')
    .description('Change one setting; the result is checked before it is written. Secrets go to .env')
    .argument('<path>', 'the setting, such as http.port')
    .argument('[value]', 'text, or YAML such as true, 8642 or [a, b]')
    .option('--unset', 'remove the setting instead')
    .addHelpText('after', examples('hermes config set http.port 8642', 'hermes config set platforms.telegram.token 123456:ABC', "hermes config set platforms.telegram.allowed_users '[1001, 1002]'", 'hermes config set --unset platforms.telegram.home_channel'))
    .action(async (path: string, value: string | undefined, flags: { unset?: true }) => {
      if ((value === undefined) !== (flags.unset === true)) throw new ConfigError(value === undefined ? 'Give a value, or --unset to remove the setting.' : 'Give either a value or --unset, not both.');
      const outcome = await setSetting({ ...options, path, value });
      report(deps, { path, isRemoval: value === undefined }, outcome);
      if (outcome.ok && outcome.files.length > 0 && awaitsRestart(deps, home, path)) deps.write('The gateway that runs takes it over when it starts anew: hermes gateway restart\n');
    });
  command
    .command('migrate')
    .description('Write keys that have moved into their new places, and show the difference; the old file is kept')
    .option('--dry-run', 'only show it')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('hermes config migrate --dry-run', 'hermes config migrate'))
    .action(async (flags: { dryRun?: true; json?: true }) => migrate(deps, { home, json: flags.json === true }, await migrateConfig({ ...options, dryRun: flags.dryRun === true, nowMs: systemClock.now() })));
  return command;
};

const examples = (...lines: readonly string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;

type Format = Parameters<typeof styleText>[0];

const paint = (deps: ConfigCommandDeps, format: Format, text: string): string => (deps.stream === undefined ? text : styleText(format, text, { stream: deps.stream, validateStream: true }));

const line = (deps: ConfigCommandDeps, problem: Problem, format: Format): string => {
  const place = formatPlace(problem);
  const text = formatProblem(problem);
  return place === '' ? text : `${paint(deps, format, place)}${text.slice(place.length)}`;
};

const printJson = (deps: ConfigCommandDeps, value: unknown): void => deps.write(`${JSON.stringify(value, null, 2)}\n`);

const count = (problems: readonly Problem[]): string => (problems.length === 1 ? '1 problem' : `${problems.length} problems`);

const problemsOf = (config: LoadedConfig): readonly Problem[] => (config.ok ? config.disabled.flatMap(({ problems }) => problems) : config.problems);

const check = (deps: ConfigCommandDeps, config: LoadedConfig, context: { readonly home: string; readonly json: boolean }): void => {
  const problems = problemsOf(config);
  const disabled = config.ok ? config.disabled.map(({ account }) => account) : [];
  if (context.json) {
    printJson(deps, { ok: problems.length === 0, usable: config.ok, problems, disabled, warnings: config.warnings });
  } else {
    for (const problem of problems) deps.write(`${line(deps, problem, 'red')}\n`);
    for (const warning of config.warnings) deps.write(`${line(deps, warning, 'yellow')}  ${paint(deps, 'dim', '(warning)')}\n`);
    if (disabled.length > 0) deps.write(`These accounts will not run: ${disabled.join(', ')}. Everything else will.\n`);
  }
  if (problems.length > 0) throw new ConfigError(`The configuration in ${context.home} has ${count(problems)}.`);
  if (!context.json && config.ok) deps.write(`${paint(deps, 'green', 'The configuration is fine.')} ${accountsText(config)}\n`);
};

const accountsText = ({ accounts }: ValidConfig<readonly Section[]>): string => (accounts.length === 0 ? 'No account is configured yet.' : `Accounts: ${accounts.map(({ account }) => account).join(', ')}.`);

const show = (deps: ConfigCommandDeps, config: LoadedConfig, json: boolean): void => {
  if (!config.ok) {
    for (const problem of config.problems) deps.writeError(`${line(deps, problem, 'red')}\n`);
    throw new ConfigError(`There is no configuration in force: ${count(config.problems)}.`);
  }
  if (json) {
    printJson(deps, { ...settingsAsJson(config.settings), disabled: config.disabled, warnings: config.warnings });
    return;
  }
  deps.write(settingsAsYaml(config.settings));
  for (const { account, problems } of config.disabled) {
    for (const problem of problems) deps.write(`# ${account} will not run: ${formatProblem(problem)}\n`);
  }
  for (const warning of config.warnings) deps.write(`# warning: ${formatProblem(warning)}\n`);
};

const migrate = (deps: ConfigCommandDeps, at: { readonly home: string; readonly json: boolean }, migration: Migration): void => {
  if (migration.type === 'migrated' && migration.kept !== undefined) noteAct(at.home, 'config migrate', movedText(migration.moved));
  reportMigration(deps, migration, at.json);
};

const reportMigration = (deps: ConfigCommandDeps, migration: Migration, json: boolean): void => {
  if (migration.type === 'refused') {
    for (const problem of migration.problems) deps.writeError(`${line(deps, problem, 'red')}\n`);
    throw new ConfigError('Nothing was changed.');
  }
  if (json) {
    printJson(deps, migration.type === 'nothing' ? { moved: [], kept: null, diff: [] } : { moved: migration.moved.map(({ from, to }) => ({ from: from.join('.'), to: to.join('.') })), kept: migration.kept ?? null, diff: migration.diff });
    return;
  }
  if (migration.type === 'nothing') {
    deps.write('Nothing in config.yaml has moved.\n');
    return;
  }
  for (const text of migration.diff) deps.write(`${text.startsWith('+') ? paint(deps, 'green', text) : text.startsWith('-') ? paint(deps, 'red', text) : text}\n`);
  deps.write(migration.kept === undefined ? 'Nothing is written yet; without --dry-run it is.\n' : `config.yaml is rewritten; the old one is ${migration.kept}\n`);
};

const printPaths = (deps: ConfigCommandDeps, home: string, json: boolean): void => {
  const paths = { home, ...configFiles(home) };
  if (json) printJson(deps, paths);
  else deps.write(`${paths.config}\n${paths.env}\n`);
};

/** Whether a gateway runs that cannot take the setting over. */
const awaitsRestart = (deps: ConfigCommandDeps, home: string, path: string): boolean =>
  deps.sections.some(({ name, reload }) => reload === 'restart' && (path === name || path.startsWith(`${name}.`))) && holderOf(home).type !== 'nobody';

const report = (deps: ConfigCommandDeps, edit: { readonly path: string; readonly isRemoval: boolean }, outcome: SetOutcome): void => {
  if (!outcome.ok) {
    for (const problem of outcome.problems) deps.writeError(`${line(deps, problem, 'red')}\n`);
    throw new ConfigError('Nothing was changed.');
  }
  const files = outcome.files.join(' and ');
  if (outcome.files.length === 0) deps.write(`${edit.path} is like that already.\n`);
  else if (edit.isRemoval) deps.write(`${edit.path} is removed from ${files}.\n`);
  else if (outcome.variable !== undefined) deps.write(`${edit.path} is a secret: it is kept as ${outcome.variable} in ${files}.\n`);
  else deps.write(`${edit.path} is changed in ${files}.\n`);
  if (outcome.dropped !== undefined) deps.write(`No longer in it: ${outcome.dropped.join(', ')}. One more is added with: hermes config set ${edit.path}.- VALUE\n`);
  if (outcome.overridden) deps.write('The environment sets it too and wins over the files.\n');
  for (const problem of outcome.missing) deps.write(`Still needed: ${formatProblem(problem)}\n`);
};
