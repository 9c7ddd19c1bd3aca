import { existsSync, readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { newSecretCommands } from '../config/secrets/secret-commands.ts';
import { processEnvironment } from '../config/variables.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { newRedactor } from '../lib/redact.ts';
import { usePlatforms } from '../platforms/registry.ts';
import { restoringFolder } from '../store/copies/half-restored.ts';
import { leaveWhenNobodyReads } from './process/closed-output.ts';
import { Exit } from './environment.ts';
import { fileTrouble } from './home/file-trouble.ts';
import type { Terminal } from './environment.ts';
import { gatewayCommand } from './gateway/command.ts';
import { loadPlugins } from './configuration/plugins.ts';
import { rootCommand } from './root-command.ts';

const version = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** 78: the configuration or the home has to be mended first. 1: anything else. */
const exitCodeOf = (error: unknown): number => {
  if (error instanceof ConfigError) return error.exitCode;
  if (error instanceof StoreError && (error.code === 'newer' || error.code === 'corrupt' || error.code === 'unwritable')) return 78;
  return 1;
};

/** Whoever runs a command has to know whose disk it is that is full. */
const storeSentence = (error: ConfigError | StoreError, terminal: Terminal): string => (error instanceof StoreError && error.code === 'full' ? `${resolveHome(terminal.env)}: the disk is full. Make room and try again.` : error.message);

const report = (terminal: Terminal, error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof Exit) return error.code;
  const trouble = fileTrouble(error, resolveHome(terminal.env));
  const expected = error instanceof ConfigError || error instanceof StoreError;
  const text = expected ? storeSentence(error, terminal) : trouble !== undefined ? trouble.sentence : error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.writeError(`${terminal.redactor?.redact(text) ?? text}\n`);
  return trouble?.exitCode ?? exitCodeOf(error);
};

/** A gateway lives long and uses none of the other commands: they are not loaded for it, which spares 2 MB and a part of its start. */
const programFor = async (terminal: Terminal, argv: readonly string[]): Promise<Command> => {
  if (argv[2] === 'gateway') return rootCommand(terminal).addCommand(gatewayCommand(terminal).exitOverride());
  const { program } = await import('./program.ts');
  return program(terminal);
};

/** Before anything of the home is read: a restore that was interrupted may have its configuration elsewhere. */
const finishBefore = async (terminal: Terminal): Promise<void> => {
  const home = resolveHome(terminal.env);
  if (!existsSync(restoringFolder(home))) return;
  const { finishInterrupted } = await import('./home/finish-interrupted.ts');
  await finishInterrupted(terminal, home);
};

export const main = async (argv: readonly string[]): Promise<void> => {
  const isGateway = argv[2] === 'gateway' && (argv[3] === undefined || argv[3] === 'run' || argv[3].startsWith('-'));
  leaveWhenNobodyReads(isGateway);
  const terminal: Terminal = {
    env: processEnvironment(),
    version,
    redactor: newRedactor(),
    commands: newSecretCommands(),
    stream: process.stdout,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  };
  try {
    await finishBefore(terminal);
    usePlatforms(await loadPlugins(terminal.env));
    await (await programFor(terminal, argv)).parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(terminal, error);
    // Parts of a gateway that has failed may still be at work, and its home is no longer held.
    if (isGateway) process.stderr.write('', () => process.exit());
  }
};
