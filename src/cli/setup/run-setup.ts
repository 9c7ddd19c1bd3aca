import { resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import { newRedactor } from '../../lib/redact.ts';
import { Exit, json } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { askModel } from './ask-model.ts';
import { askOwner } from './ask-owner.ts';
import { askPlatform } from './ask-platform.ts';
import { Draft, usableDraft } from './draft.ts';
import { keyedProviders } from './find-models.ts';
import { finish, nextSteps, stepLines } from './finish.ts';
import type { SetupResult } from './finish.ts';
import { answersAnything, namesModel } from './flags.ts';
import type { SetupFlags, Step } from './flags.ts';
import { guardedAccounts } from './people.ts';
import { Cancelled } from './prompts.ts';
import type { Prompts } from './prompts.ts';
import type { SetupRun } from './run.ts';
import { scriptModel } from './script-model.ts';
import { messengerOf, scriptAccount, scriptOwner, scriptSettings } from './script-platform.ts';

const howToScript = `There is no terminal to ask in. Say what you want on the command line, for example:
  OPENAI_API_KEY=… hermes setup --non-interactive --model-provider openai --model gpt-5-mini
  TELEGRAM_BOT_TOKEN=… hermes setup --non-interactive --platform telegram --save-env --allow-user 123456789
hermes setup --plain reads answers line by line, also from a pipe; hermes setup --help shows the rest.`;

const openRun = async (terminal: Terminal, flags: SetupFlags, signal: AbortSignal): Promise<SetupRun> => {
  const redactor = terminal.redactor ?? newRedactor();
  const draft = await Draft.open({ home: resolveHome(terminal.env), env: terminal.env, redactor, commands: terminal.commands });
  usableDraft(draft);
  return { draft, signal, skipChecks: flags.skipChecks === true, redact: (text) => redactor.redact(text), checks: [], invite: false };
};

const openPrompts = async (terminal: Terminal, flags: SetupFlags): Promise<Prompts> => {
  if (flags.plain === true || terminal.env['TERM'] === 'dumb') {
    const { plainPrompts } = await import('./plain-prompts.ts');
    return plainPrompts(process.stdin, (text) => terminal.write(text));
  }
  const { clackPrompts } = await import('./clack-prompts.ts');
  return clackPrompts();
};

/** Steps that the command line has answered are not asked. */
const askAll = async (run: SetupRun, prompts: Prompts, asked: { readonly flags: SetupFlags; readonly step: Step | undefined }): Promise<void> => {
  const { flags, step } = asked;
  const wants = (name: Step): boolean => step === undefined || step === name;
  if (namesModel(flags)) await scriptModel(run, flags);
  else if (wants('model')) await askModel(run, prompts);
  scriptSettings(run, flags);
  if (wants('platform')) await askPlatform(run, prompts, flags.platform === undefined ? undefined : { platform: messengerOf(flags.platform), account: flags.platform });
  if (flags.allowUser.length > 0 || flags.invite === true) scriptOwner(run, flags);
  else if (wants('owner') && guardedAccounts(run).length > 0) await askOwner(run, prompts);
};

const fileLines = ({ files, backups }: SetupResult): string => [...files.map((file) => `Wrote ${file}`), ...backups.map((file) => `The old one is ${file}`)].join('\n');

const interview = async (terminal: Terminal, run: SetupRun, asked: { readonly flags: SetupFlags; readonly step: Step | undefined }): Promise<void> => {
  const prompts = await openPrompts(terminal, asked.flags);
  try {
    prompts.begin('Hermes setup. Ctrl-C leaves everything as it was.');
    await askAll(run, prompts, asked);
    if (!run.draft.isChanged && !run.invite) {
      prompts.end('Nothing was changed.');
      return;
    }
    if (run.draft.isChanged && !(await prompts.confirm(`Write this to ${run.draft.home}?`, true))) throw new Cancelled();
    const result = await finish(terminal, run);
    if (result.files.length > 0) prompts.say('success', fileLines(result));
    prompts.show('Next', stepLines(nextSteps(result)).join('\n'));
    prompts.end('hermes doctor says whether everything works. hermes setup can be run again at any time.');
  } finally {
    prompts.close();
  }
};

const followFlags = async (run: SetupRun, flags: SetupFlags): Promise<void> => {
  if (namesModel(flags)) await scriptModel(run, flags);
  scriptSettings(run, flags);
  if (flags.platform !== undefined) await scriptAccount(run, flags.platform);
  scriptOwner(run, flags);
};

/** Whoever has a key lying about may want to use it. */
const demoHint = (run: SetupRun): readonly string[] => {
  const loaded = run.draft.load();
  if (!loaded.ok || loaded.sections.model.provider !== 'demo') return [];
  const found = keyedProviders(run).map(({ provider, keyVariable }) => `${provider} (${keyVariable ?? ''} is set)`);
  return [`The built-in demo model answers for now. --model-provider and --model choose another${found.length === 0 ? '' : `, such as ${found.join(', ')}`}.`];
};

const script = async (terminal: Terminal, run: SetupRun, flags: SetupFlags): Promise<void> => {
  try {
    await followFlags(run, flags);
  } catch (error) {
    if (flags.json === true && error instanceof ConfigError) terminal.write(json({ ok: false, error: run.redact(error.message), checks: run.checks, files: [] }));
    throw error;
  }
  const failed = run.checks.filter(({ outcome }) => outcome === 'fails');
  if (failed.length > 0) {
    if (flags.json === true) terminal.write(json({ ok: false, checks: run.checks, files: [] }));
    else terminal.writeError(`${failed.map(({ text, fix }) => `${text}${fix === undefined ? '' : `\n  ${fix}`}`).join('\n')}\nNothing was written. --skip-checks writes it all the same.\n`);
    throw new Exit(1);
  }
  const result = await finish(terminal, run);
  if (flags.json === true) {
    terminal.write(json({ ok: true, ...result, checks: run.checks, next: nextSteps(result) }));
    return;
  }
  const lines = [...run.checks.map(({ text }) => text), ...demoHint(run), result.files.length === 0 ? 'Nothing had to be changed.' : fileLines(result), '', ...stepLines(nextSteps(result))];
  terminal.write(`${lines.join('\n')}\n`);
};

/** `hermes setup`. Until the end nothing is written, and whoever leaves before has changed nothing. */
export const runSetup = async (terminal: Terminal, flags: SetupFlags, step: Step | undefined): Promise<void> => {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const isScripted = flags.nonInteractive === true || flags.json === true || (!hasTerminal && flags.plain !== true);
  if (isScripted && flags.nonInteractive !== true && !answersAnything(flags)) throw new ConfigError(howToScript);
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(new Cancelled());
  process.once('SIGINT', leave);
  try {
    const run = await openRun(terminal, flags, leaving.signal);
    await (isScripted ? script(terminal, run, flags) : interview(terminal, run, { flags, step }));
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    terminal.writeError('\nNothing was changed.\n');
    throw new Exit(130);
  } finally {
    process.removeListener('SIGINT', leave);
  }
};
