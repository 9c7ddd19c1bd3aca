import type { Slots } from '../lib/slots.ts';
import type { FoundHook } from './discover.ts';
import { isDecidable } from './events.ts';
import { HookError } from './hook-error.ts';
import { pythonModuleCall } from './python-module.ts';
import { runProgram } from './run-program.ts';
import type { HookRunner } from './runner.ts';

export interface ProgramDeps {
  /** What programs of ours may know of the environment. */
  childEnvironment(): Readonly<Record<string, string>>;
  onLine(line: string): void;
  /** So many programs at the same time, of all hooks together: those somebody waits for, and the others. */
  readonly slots: { readonly deciding: Slots; readonly observing: Slots };
}

const readAnswer = (text: string): unknown => {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HookError('bad_answer', 'what it wrote to its standard output is not JSON', { cause });
  }
};

/** A hook that is a program: started for every event, with JSON on its standard input and an answer in JSON, or none, on its standard output. */
export const programRunner = (hook: Pick<FoundHook, 'id' | 'agent' | 'folder' | 'handler' | 'manifest'>, deps: ProgramDeps): HookRunner => {
  const { kind, path } = hook.handler;
  const command = kind === 'python' ? (['python3', '-c', pythonModuleCall, path] as const) : ([path] as const);
  return {
    async call(event, context, limit) {
      const env = { ...deps.childEnvironment(), HERMES_HOOK: hook.id, HERMES_HOOK_EVENT: event, ...(hook.agent !== undefined && { HERMES_AGENT_ID: hook.agent }) };
      const program = { command, folder: hook.folder, env, input: `${JSON.stringify({ event, context })}\n`, onLine: (line: string) => deps.onLine(line) };
      const waited = hook.manifest.kind === 'decide' && isDecidable(event);
      const slots = waited ? deps.slots.deciding : deps.slots.observing;
      // Whoever waits for a decision does not wait longer because many are being made.
      const patience = waited ? AbortSignal.any([limit.signal, AbortSignal.timeout(limit.timeoutMs)]) : limit.signal;
      try {
        return readAnswer(await slots.run(patience, () => runProgram(program, limit)));
      } catch (cause) {
        if (cause instanceof HookError) throw cause;
        if (limit.signal.aborted) throw new HookError('aborted', 'the gateway is ending', { cause });
        throw patience.aborted ? new HookError('timeout', 'too many programs were running to start another', { cause }) : new HookError('not_started', 'it cannot be run', { cause });
      }
    },
    close: () => Promise.resolve(),
  };
};
