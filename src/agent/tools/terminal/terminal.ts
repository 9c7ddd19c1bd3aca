import { z } from 'zod';
import type { CommandGuard } from '../../approvals/command-guard.ts';
import { ToolError } from '../contract.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import type { Backend } from './backend.ts';
import { checkWorkdir } from './check-workdir.ts';
import { cleanText, shorten } from './clean-output.ts';
import { exitMeaning } from './exit-meaning.ts';
import { longLivedReason } from './long-lived.ts';
import { maxForegroundSeconds } from './options.ts';
import type { Processes } from './processes.ts';
import { runForeground } from './run-foreground.ts';
import type { ForegroundResult } from './run-foreground.ts';
import type { SessionFolders } from './session-folders.ts';
import { shellScript } from './shell-script.ts';

export interface TerminalDeps {
  readonly backend: Backend;
  readonly guard: CommandGuard;
  readonly processes: Processes;
  readonly folders: SessionFolders;
  /** Where the commands of a conversation begin. */
  startFolder(context: ToolContext): string;
  /** Everything that a command gets of an environment. */
  environment(context: ToolContext): Readonly<Record<string, string>>;
  redact(text: string): string;
  readonly userHome: string;
  /** Seconds for a command that names no time. */
  readonly timeoutSeconds: number;
}

/** One argument of a program may not be longer, and a person has to read it. */
const maxCommandChars = 100_000;
/** In JSON every character may take two. */
const maxOutputChars = 45_000;

const args = z.object({
  command: z.string().describe('The command line. Each call begins in a fresh shell; only the folder is kept from the call before.'),
  background: z.boolean().optional().describe('Start it and go on at once; look after it with the process tool. For servers and everything that takes long.'),
  timeout: z.number().positive().optional().describe(`Seconds until it is ended, at most ${maxForegroundSeconds}.`),
  workdir: z.string().optional().describe('Absolute path of the folder to run in.'),
  pty: z.boolean().optional().describe('Give it a terminal, for programs that insist on one.'),
  notify_on_complete: z.boolean().optional().describe('With background: you are told when it has ended, once.'),
  watch_patterns: z.array(z.string().min(1).max(200)).max(10).optional().describe('With background: you are told when a line of its output contains one of these texts. Rarely and for single events; not together with notify_on_complete.'),
});

type Args = z.output<typeof args>;

interface Prepared {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly approval: string | undefined;
}

const pollHint = (id: string): string => `process(action="poll", session_id="${id}")`;

const withPty = (deps: TerminalDeps, program: readonly [string, ...string[]], wanted: boolean | undefined): readonly [string, ...string[]] => {
  if (wanted !== true) return program;
  if (deps.backend.terminal === undefined) throw new ToolError('unavailable', 'There is no terminal for it here: pty=true needs the program `script` of util-linux, and no container. Run it without pty.');
  return deps.backend.terminal(program);
};

/** A command whose folder is gone starts where the conversation began. */
const folderOf = async (deps: TerminalDeps, input: Args, context: ToolContext): Promise<string> => {
  if (input.workdir !== undefined) return checkWorkdir(input.workdir, deps.userHome);
  const kept = deps.folders.of(context.sessionId);
  if (kept === undefined) return checkWorkdir(deps.startFolder(context), deps.userHome);
  return checkWorkdir(kept, deps.userHome).catch(() => checkWorkdir(deps.startFolder(context), deps.userHome));
};

const prepare = async (deps: TerminalDeps, input: Args, at: { context: ToolContext; signal: AbortSignal }): Promise<Prepared> => {
  const { command } = input;
  if (command.trim() === '') throw new ToolError('bad_arguments', 'The command is empty.');
  if (command.length > maxCommandChars || command.includes('\0')) throw new ToolError('bad_arguments', `A command has at most ${maxCommandChars} characters and no NUL. Write a script to a file and run that.`);
  const cwd = await folderOf(deps, input, at.context);
  const { dialect, isolated } = deps.backend;
  const verdict = await deps.guard({ command, cwd, dialect, isolated, background: input.background === true }, at.context, at.signal);
  if (!verdict.allowed) throw new ToolError('unavailable', `Not run. ${verdict.reason}`);
  return { command, cwd, env: deps.environment(at.context), approval: verdict.how };
};

const errors: Readonly<Record<ForegroundResult['end'], (seconds: number) => string | undefined>> = {
  exited: () => undefined,
  timeout: (seconds) => `It was ended after ${seconds} seconds. Give it more time (up to ${maxForegroundSeconds}), or run it with background=true.`,
  interrupted: () => 'It was interrupted.',
};

const answer = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));

const inForeground = async (deps: TerminalDeps, input: Args, at: { context: ToolContext; signal: AbortSignal }): Promise<string> => {
  const seconds = input.timeout ?? deps.timeoutSeconds;
  if (seconds > maxForegroundSeconds) throw new ToolError('bad_arguments', `A command in the foreground may take at most ${maxForegroundSeconds} seconds. Run it with background=true and notify_on_complete=true instead.`);
  const { readScript } = await import('../../approvals/shell/read-script.ts');
  const { calls } = readScript(input.command, { cwd: '/', home: deps.userHome, parentPid: 0 }, deps.backend.dialect);
  const tooLong = longLivedReason(calls);
  if (tooLong !== undefined) throw new ToolError('bad_arguments', `Not run. ${tooLong}`);
  const { command, cwd, env, approval } = await prepare(deps, input, at);
  const script = shellScript(deps.backend.shell, command);
  const launch = deps.backend.launch(withPty(deps, script.program, input.pty), { cwd, env });
  let saidAliveMs = at.context.clock.now();
  const result = await runForeground(launch, {
    timeoutMs: seconds * 1000,
    clock: at.context.clock,
    signal: at.signal,
    onOutput() {
      if (at.context.clock.now() - saidAliveMs < 1000) return;
      saidAliveMs = at.context.clock.now();
      at.context.alive();
    },
  }).catch((error: unknown) => {
    throw new ToolError('failed', `The command could not be started: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  const { head, tail, droppedBytes } = result.output;
  const whole = droppedBytes === 0;
  const end = script.read(cleanText(whole ? Buffer.concat([head, tail]) : tail));
  if (end.folder !== undefined) deps.folders.change(at.context.sessionId, end.folder);
  const shown = shorten(whole ? '' : deps.redact(cleanText(head)), deps.redact(end.output), { maxChars: maxOutputChars, missing: droppedBytes });
  return answer({ output: shown.text, exit_code: result.exitCode, error: errors[result.end](seconds), exit_code_meaning: exitMeaning(result.exitCode, calls), approval, cwd: end.folder === cwd ? undefined : end.folder });
};

/** What the model hears about being told later. */
const promises = (input: Args, context: ToolContext, id: string): Readonly<Record<string, unknown>> => {
  const watches = (input.watch_patterns?.length ?? 0) > 0;
  const notifies = input.notify_on_complete === true;
  if (!notifies && !watches) return { hint: `You will not be told when it ends. Look with ${pollHint(id)}.` };
  if (!context.asyncDelivery) return { notify_unsupported: `Nothing can be reported here after the turn has ended, so you will not be told. Look for yourself before you answer: ${pollHint(id)}, or action="wait".` };
  if (!notifies) return { watch_patterns: input.watch_patterns };
  return { notify_on_complete: true, note: watches ? 'watch_patterns was left out: it does not go together with notify_on_complete.' : undefined };
};

const inBackground = async (deps: TerminalDeps, input: Args, at: { context: ToolContext; signal: AbortSignal }): Promise<string> => {
  const { command, cwd, env, approval } = await prepare(deps, input, at);
  const launch = deps.backend.launch(withPty(deps, [deps.backend.shell, '-c', command], input.pty), { cwd, env });
  const { asyncDelivery, sessionId } = at.context;
  const notify = asyncDelivery && input.notify_on_complete === true;
  const watch = asyncDelivery && !notify ? (input.watch_patterns ?? []) : [];
  at.signal.throwIfAborted();
  const started = await deps.processes.begin({ sessionId, command, cwd, launch, notify, watch });
  return answer({ output: 'Started in the background.', session_id: started.id, pid: started.pid, exit_code: 0, approval, ...promises(input, at.context, started.id) });
};

/** Runs commands. Whatever may do harm is decided by the guard before anything happens. */
export const terminalTool = (deps: TerminalDeps): Tool =>
  defineTool({
    name: 'terminal',
    description:
      'Run a command in a shell on the machine and get its output and exit code. Commands that may do harm are shown to a person first; some are never run. Do not use it to read, write or search files: there are tools for that. Do not start servers or anything long in the foreground: use background=true and the process tool.',
    args,
    run: (input, context, signal) => (input.background === true ? inBackground(deps, input, { context, signal }) : inForeground(deps, input, { context, signal })),
  });
