import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { adoptSettings } from '../config/settings/adopt-settings.ts';
import { readTexts, writeTexts } from '../config/text/config-texts.ts';
import { evaluate } from '../config/evaluate.ts';
import type { ConfigTexts } from '../config/evaluate.ts';
import { prepareHome, resolveHome } from '../config/home.ts';
import { configFiles } from '../config/load-config.ts';
import { whileConfigLocked } from '../config/upkeep/lock-config.ts';
import { parseEnvFile } from '../config/text/parse-env-file.ts';
import { formatProblem } from '../config/problem.ts';
import { readConfigFile } from '../config/text/read-config-file.ts';
import { evaluateWithSecrets } from '../config/secrets/read-secrets.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import { ConfigError } from '../core/errors.ts';
import type { JobRules } from '../cron/job-request.ts';
import { jobFolders } from '../gateway/agents/job-folders.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { platforms } from '../platforms/registry.ts';
import { newImportReport } from '../portability/import-report.ts';
import type { ImportFate, ImportLine, ImportReport } from '../portability/import-report.ts';
import { importOpenclaw, readOpenclawHome } from '../portability/openclaw/import-openclaw.ts';
import { checkOriginalHome, importOriginal } from '../portability/original/import-original.ts';
import { keysOfLogins } from '../portability/original/read-logins.ts';
import { homeOfAgent } from '../routing/agent-home.ts';
import { isAgent } from '../routing/select-agent.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { configTargets } from './configuration/config-targets.ts';
import { json, paint } from './environment.ts';
import type { Terminal } from './environment.ts';
import { noteAct } from './note-act.ts';
import { storeOf, storePath } from './home/open-home.ts';
import { withScratchStore } from './home/scratch-store.ts';
import { sections } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';

interface ImportFlags {
  readonly dryRun?: true;
  readonly agent?: string;
  readonly json?: true;
}

const textOf = async (path: string): Promise<string | undefined> => {
  const file = await readConfigFile(path);
  return file.kind === 'text' ? file.text : undefined;
};

interface Adopting {
  readonly home: string;
  readonly theirs: ConfigTexts;
  readonly dryRun: boolean;
  readonly report: ImportReport;
}

/** Their settings in our files; answers the configuration that makes. */
const adoptConfig = (terminal: Terminal, to: Adopting): Promise<Config> => (to.dryRun ? adopt(terminal, to) : whileConfigLocked(to.home, () => adopt(terminal, to)));

const adopt = async (terminal: Terminal, to: Adopting): Promise<Config> => {
  const { home, theirs, report } = to;
  const read = await readTexts(home);
  if (!read.ok) throw new ConfigError(`The configuration in ${home} has to be mended first: ${read.problems.map(formatProblem).join('; ')}`);
  const ours = { home, env: terminal.env, sections, platforms, commands: terminal.commands };
  // Only our own: what another home names is not read or run for the asking.
  const input = { ...ours, secrets: (await evaluateWithSecrets(ours, read.texts)).secrets };
  const adoption = adoptSettings(input, read.texts, theirs);
  for (const setting of adoption.settings) report.add({ area: 'config', ...setting });
  const { config } = evaluate(input, adoption.texts);
  if (!config.ok) throw new ConfigError(`The configuration in ${home} has to be mended first: ${config.problems.map(formatProblem).join('; ')}`);
  if (!to.dryRun) {
    const kept = join(home, 'backups');
    const written = await writeTexts(home, { before: read.texts, after: adoption.texts }, async (name, text) => {
      await mkdir(kept, { recursive: true, mode: 0o700 });
      await writeAtomically(join(kept, `${name.replace(/^\./, '')}-before-import-${systemClock.now()}`), text);
    });
    if (!written.ok) throw new ConfigError(`${written.changed} was changed by somebody else at the same moment; try again.`);
  }
  return config as Config;
};

/** For a look at what would happen, a home without a database is left without one. */
const withImportStore = async (config: Config, at: { readonly home: string; readonly dryRun: boolean }, work: (store: Store) => Promise<void>): Promise<void> => {
  const databaseUrl = config.sections.store.database_url;
  if (at.dryRun && databaseUrl === undefined && !existsSync(storePath(at.home))) return withScratchStore(work);
  const store = await openStore({ ...storeOf(config.sections.store, at.home), clock: systemClock, log: silentLogger, checkIntegrity: false });
  await work(store).finally(() => store.close());
};

const titles: readonly (readonly [ImportFate, string])[] = [
  ['taken', 'Taken'],
  ['changed', 'Taken, changed'],
  ['left', 'Left'],
  ['known', 'Here already'],
];

const printed = (terminal: Terminal, lines: readonly ImportLine[]): string =>
  titles
    .flatMap(([fate, title]) => {
      const some = lines.filter((line) => line.fate === fate);
      if (some.length === 0) return [];
      return [paint(terminal, 'bold', title), ...some.map((line) => `  ${line.area.padEnd(9)} ${line.what}${line.why === undefined || line.why === '' ? '' : paint(terminal, 'dim', ` — ${line.why}`)}`)];
    })
    .join('\n');

/** What both programs would do if both ran. */
const notBoth = 'Stop the other program before you start this gateway: two with one bot’s token take each other’s messages, and jobs would run twice.';

const finish = (terminal: Terminal, lines: readonly ImportLine[], told: { readonly flags: ImportFlags; readonly folder: string }): void => {
  const { flags, folder } = told;
  if (flags.dryRun !== true) noteAct(resolveHome(terminal.env), 'import', folder);
  if (flags.json === true) {
    terminal.write(json({ dryRun: flags.dryRun === true, lines }));
    return;
  }
  const end = flags.dryRun === true ? 'Nothing was changed. Without --dry-run it is.' : `The folder itself was only read. ${notBoth} hermes doctor checks what it makes together.`;
  terminal.write(`${lines.length === 0 ? 'There is nothing to take.' : printed(terminal, lines)}\n\n${end}\n`);
};

const jobRules = (config: Config, home: string): JobRules => ({
  targets: configTargets(config),
  options: () => config.sections.cron,
  isAgent: (id) => isAgent(config.sections, id),
  findFolder: jobFolders({ home, userHome: homedir(), settings: () => config.sections }),
});

const importHermes = async (terminal: Terminal, given: string, flags: ImportFlags): Promise<void> => {
  const folder = resolve(given);
  const home = resolveHome(terminal.env);
  const dryRun = flags.dryRun === true;
  await checkOriginalHome(folder);
  if (!dryRun) await prepareHome(home);
  const report = newImportReport();
  const paths = configFiles(folder);
  const isOwn = folder === home || flags.agent !== undefined;
  // What stands in .env wins over a login.
  const theirs = isOwn ? { config: undefined, env: undefined } : { config: await textOf(paths.config), env: `${await keysOfLogins(folder, report)}${(await textOf(paths.env)) ?? ''}` };
  if (flags.agent !== undefined) report.add({ area: 'config', fate: 'left', what: 'config.yaml, .env', why: 'an agent has its settings under agents in ours' });
  const config = await adoptConfig(terminal, { home, theirs, dryRun, report });
  if (flags.agent !== undefined && !isAgent(config.sections, flags.agent)) throw new ConfigError(`There is no agent ${flags.agent}. hermes agent add ${flags.agent} makes one.`);
  const { memory, agents } = config.sections;
  const agentHome = homeOfAgent(home, flags.agent ?? 'main', agents[flags.agent ?? 'main']);
  await withImportStore(config, { home, dryRun }, (store) =>
    importOriginal(folder, { store, rules: jobRules(config, home), agent: flags.agent, report, home: agentHome, dryRun, memoryChars: memory.memory_char_limit, userChars: memory.user_char_limit, clock: systemClock, signal: AbortSignal.timeout(600_000) }),
  );
  finish(terminal, report.lines, { flags, folder });
};

const importFromOpenclaw = async (terminal: Terminal, given: string, flags: ImportFlags): Promise<void> => {
  const folder = resolve(given);
  const home = resolveHome(terminal.env);
  const dryRun = flags.dryRun === true;
  const report = newImportReport();
  const { entries } = parseEnvFile((await textOf(configFiles(folder).env)) ?? '', '.env', () => undefined);
  const theirs = await readOpenclawHome(folder, new Map(entries.map(({ name, value }) => [name, value])), report);
  if (!dryRun) await prepareHome(home);
  const config = await adoptConfig(terminal, { home, theirs: theirs.settings, dryRun, report });
  const { memory, agents, group_sessions_per_user, thread_sessions_per_user } = config.sections;
  await withImportStore(config, { home, dryRun }, (store) =>
    importOpenclaw(theirs, {
      store,
      rules: jobRules(config, home),
      sharing: { groupSessionsPerUser: group_sessions_per_user, threadSessionsPerUser: thread_sessions_per_user },
      homeOf: (agent) => (isAgent(config.sections, agent) ? homeOfAgent(home, agent, agents[agent]) : undefined),
      report,
      dryRun,
      memoryChars: memory.memory_char_limit,
      userChars: memory.user_char_limit,
      clock: systemClock,
      signal: AbortSignal.timeout(600_000),
    }),
  );
  finish(terminal, report.lines, { flags, folder });
};

export const importCommand = (terminal: Terminal): Command => {
  const command = new Command('import').description('Take over what another gateway has, without changing it').addHelpText('after', '\nExamples:\n  hermes import hermes ~/.hermes-old --dry-run\n  hermes import hermes ~/.hermes-old\n  hermes import openclaw ~/.openclaw --dry-run');
  command
    .command('hermes')
    .description('A home of the original: configuration, conversations, people, jobs, memories, skills, hooks')
    .argument('<folder>', 'such as ~/.hermes')
    .option('--agent <id>', 'give conversations, files and jobs to this agent, for a profile of the original')
    .option('--dry-run', 'only say what would be taken')
    .option('--json', 'print JSON')
    .action((folder: string, flags: ImportFlags) => importHermes(terminal, folder, flags));
  command
    .command('openclaw')
    .description('The main things of an OpenClaw: models, messengers, agents, people, conversations, jobs (paused), memory, skills')
    .argument('<folder>', 'such as ~/.openclaw')
    .option('--dry-run', 'only say what would be taken')
    .option('--json', 'print JSON')
    .action((folder: string, flags: ImportFlags) => importFromOpenclaw(terminal, folder, flags));
  return command;
};
