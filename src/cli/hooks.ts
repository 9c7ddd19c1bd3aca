import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { hookFolders } from '../gateway/hooks/hook-folders.ts';
import { discoverHooks } from '../hooks/discover.ts';
import { hookEvents } from '../hooks/events.ts';
import { loadHooks } from '../hooks/load-hooks.ts';
import type { HookSet } from '../hooks/load-hooks.ts';
import { mayDecide } from '../hooks/manifest.ts';
import { sampleContext, tryHooks } from '../hooks/try-hooks.ts';
import type { Trial, Trials } from '../hooks/try-hooks.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { newRedactor } from '../lib/redact.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';
import { Exit, json, paint, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { outsideOf } from './process/outside.ts';

interface Listed {
  readonly hook: string;
  readonly agent: string | null;
  readonly kind: 'decides' | 'watches' | 'off' | 'broken';
  readonly events: readonly string[];
  readonly runs: string;
  readonly about: string;
}

const list = async (home: string, config: Config): Promise<readonly Listed[]> => {
  const found = (await Promise.all(hookFolders(home, config.sections).map(discoverHooks))).flat();
  const own = found.map((hook): Listed => {
    const named = { hook: hook.id, agent: hook.agent ?? null };
    if ('problem' in hook) return { ...named, kind: 'broken', events: [], runs: hook.folder, about: hook.problem };
    const { manifest, handler } = hook;
    return { ...named, kind: !manifest.enabled ? 'off' : mayDecide(manifest) ? 'decides' : 'watches', events: manifest.events, runs: handler.path, about: manifest.description };
  });
  const webhooks = Object.entries(config.sections.webhooks_out).map(([name, { agent, events, url }]): Listed => ({ hook: `webhooks_out.${name}`, agent: agent ?? null, kind: 'watches', events, runs: new URL(url).host, about: '' }));
  return [{ hook: 'boot-md', agent: null, kind: 'watches', events: ['gateway:startup'], runs: 'built in', about: 'Works through BOOT.md when the gateway starts' }, ...own, ...webhooks];
};

const printList = (terminal: Terminal, hooks: readonly Listed[]): string => {
  const rows = hooks.map(({ hook, kind, events, runs, about }) => [hook, kind, events.join(' '), runs, kind === 'broken' ? paint(terminal, 'red', about) : (about.split('\n', 1)[0] ?? '')]);
  return `${table([['HOOK', 'KIND', 'EVENTS', 'RUNS', 'ABOUT'], ...rows])}\n`;
};

interface TestFlags {
  readonly payload?: string;
  readonly agent?: string;
  readonly hook?: string;
  readonly json?: true;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON as it is, from a file behind `@`, or from standard input. */
const readPayload = async (given: string | undefined): Promise<Readonly<Record<string, unknown>>> => {
  if (given === undefined) return {};
  const source = given === '-' ? await readAll(process.stdin) : given.startsWith('@') ? await readFile(given.slice(1), 'utf8') : given;
  try {
    const value: unknown = JSON.parse(source);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new ConfigError('The payload is not JSON. Write it as --payload \'{"text": "hello"}\', or name a file: --payload @event.json', { cause });
  }
  throw new ConfigError('The payload has to be a JSON object, such as {"text": "hello"}.');
};

const chosen = (set: HookSet, wanted: string | undefined): HookSet => {
  if (wanted === undefined) return set;
  const only = { ...set, hooks: set.hooks.filter(({ id }) => id === wanted), webhooks: set.webhooks.filter(({ id }) => id === wanted) };
  if (only.hooks.length + only.webhooks.length > 0) return only;
  const problem = set.broken.find(({ id }) => id === wanted)?.problem;
  throw new ConfigError(problem === undefined ? `There is no hook ${wanted}. hermes hooks list shows them.` : `The hook ${wanted} cannot be used: ${problem}`);
};

const trialRow = (terminal: Terminal, { hook, role, ms, answer, problem }: Trial): readonly string[] => [hook, role, `${ms} ms`, problem === undefined ? JSON.stringify(answer ?? null) : paint(terminal, 'red', `✗ ${problem}`)];

const printTrials = (terminal: Terminal, { event, trials, outcome }: Trials): string => {
  if (trials.length === 0) return `No hook listens to ${event}.\n`;
  const decided = outcome === undefined ? '' : `\nOutcome: ${JSON.stringify(outcome)}\n`;
  return `${table([['HOOK', 'ROLE', 'TIME', 'ANSWER'], ...trials.map((trial) => trialRow(terminal, trial))])}\n${decided}`;
};

const runTest = async (terminal: Terminal, event: string, flags: TestFlags): Promise<void> => {
  const home = resolveHome(terminal.env);
  const redactor = terminal.redactor ?? newRedactor();
  const config = await requireConfig(terminal, redactor);
  const context = sampleContext(event, { ...(flags.agent !== undefined && { agent_id: flags.agent }), ...(await readPayload(flags.payload)) });
  if (context === undefined) throw new ConfigError(`${event} is no event. There are: ${Object.keys(hookEvents).join(', ')}`);
  const childEnvironment = outsideOf(terminal, home).childEnvironment;
  const set = await loadHooks(
    {
      folders: () => hookFolders(home, config.sections),
      webhooks: () => config.sections.webhooks_out,
      builtins: [],
      clock: systemClock,
      log: silentLogger,
      fetch,
      childEnvironment: () => childEnvironment?.(config.sections.terminal.env_passthrough) ?? {},
      redact: (text) => redactor.redact(text),
      onLine: (hook, line) => terminal.writeError(`${hook}: ${line}\n`),
    },
    [],
  );
  try {
    const trials = await tryHooks(chosen(set, flags.hook), { event, context, clock: systemClock });
    terminal.write(flags.json === true ? json(trials) : printTrials(terminal, trials));
    if (trials.trials.some(({ problem }) => problem !== undefined)) throw new Exit(1);
  } finally {
    await Promise.all([...set.hooks, ...set.webhooks].map((hook) => hook.close(0)));
  }
};

export const hooksCommand = (terminal: Terminal): Command => {
  const command = new Command('hooks').description('List hooks and try them out').addHelpText('after', '\nExamples:\n  hermes hooks list\n  hermes hooks test command:new\n  hermes hooks test message:inbound --payload \'{"text": "hello"}\' --hook guard');
  command
    .command('list')
    .description('Every hook, what it listens to, and what is wrong with it; runs nothing')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: true }) => {
      const hooks = await list(resolveHome(terminal.env), await requireConfig(terminal));
      terminal.write(flags.json === true ? json(hooks) : printList(terminal, hooks));
    });
  command
    .command('test')
    .description('Let an event happen for the hooks alone, and show what they answer; leaves with 1 when one of them fails')
    .argument('<event>', 'such as command:new, message:inbound or agent:end')
    .option('--payload <json>', 'what the event tells, over a sample: JSON, @file, or - for standard input')
    .option('--agent <id>', 'the agent it is about')
    .option('--hook <name>', 'only this hook')
    .option('--json', 'print JSON')
    .action((event: string, flags: TestFlags) => runTest(terminal, event, flags));
  return command;
};
