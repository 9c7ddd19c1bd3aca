import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { newSlots } from '../lib/slots.ts';
import { builtinRunner } from './builtin-hook.ts';
import type { BuiltinHook } from './builtin-hook.ts';
import { discoverHooks } from './discover.ts';
import type { BrokenHook, FoundHook, HookFolder } from './discover.ts';
import { LoadedHook } from './loaded-hook.ts';
import type { HookRun } from './loaded-hook.ts';
import { ModuleRunner } from './module-runner.ts';
import type { OutgoingWebhookOptions } from './options.ts';
import { OutgoingWebhook } from './outgoing-webhook.ts';
import { programRunner } from './program-runner.ts';
import type { ProgramDeps } from './program-runner.ts';
import type { HookRunner } from './runner.ts';

export interface LoadDeps {
  /** Folders with hooks, the gateway's own first. */
  folders(): readonly HookFolder[];
  webhooks(): Readonly<Record<string, OutgoingWebhookOptions>>;
  readonly builtins: readonly BuiltinHook[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly fetch: typeof fetch;
  /** What code of others may know of the environment. */
  childEnvironment(): Readonly<Record<string, string>>;
  redact(text: string): string;
  /** What hooks print, line by line. */
  onLine?(hook: string, line: string): void;
  onRun?(run: HookRun): void;
}

export interface HookSet {
  /** In the order in which they are asked, exactness aside. */
  readonly hooks: readonly LoadedHook[];
  readonly webhooks: readonly OutgoingWebhook[];
  readonly broken: readonly BrokenHook[];
  /** By `enabled: false`. */
  readonly disabled: readonly string[];
}

const atOnce = { deciding: 8, observing: 4 };

/** Of all hooks that are programs. */
const slots: ProgramDeps['slots'] = { deciding: newSlots(atOnce.deciding), observing: newSlots(atOnce.observing) };

const isBroken = (hook: FoundHook | BrokenHook): hook is BrokenHook => 'problem' in hook;
const isUsable = (hook: FoundHook | BrokenHook): hook is FoundHook => !isBroken(hook);

/** Loads a module at once, so that its first event does not wait; a module that cannot be loaded is reported, and tried again when it is called. */
const runnerOf = (hook: FoundHook, deps: LoadDeps): HookRunner => {
  const onLine = (line: string): void => {
    deps.log.debug({ hook: hook.id, line }, 'hook.printed');
    deps.onLine?.(hook.id, line);
  };
  const shared = { clock: deps.clock, childEnvironment: () => deps.childEnvironment(), onLine };
  if (hook.handler.kind !== 'module') return programRunner(hook, { ...shared, slots });
  const runner = new ModuleRunner(hook, shared);
  runner.load().catch((error: unknown) => deps.log.error({ hook: hook.id, problem: error instanceof Error ? error.message : String(error) }, 'hook.not_loaded'));
  return runner;
};

const loadedHook = (hook: FoundHook, deps: LoadDeps): LoadedHook => new LoadedHook(hook, runnerOf(hook, deps), loadedDeps(deps));

const loadedDeps = (deps: LoadDeps) => ({ clock: deps.clock, log: deps.log, onRun: (run: HookRun) => deps.onRun?.(run) });

/** Finds and loads every hook there is. Webhooks that have not changed are taken over from `before`, with what they still have to send. */
export const loadHooks = async (deps: LoadDeps, before: readonly OutgoingWebhook[]): Promise<HookSet> => {
  const found = (await Promise.all(deps.folders().map(discoverHooks))).flat();
  const usable = found.filter(isUsable);
  const builtins = deps.builtins.map((hook) => new LoadedHook({ id: hook.id, agent: undefined, manifest: hook.manifest }, builtinRunner(hook), loadedDeps(deps)));
  return {
    hooks: [...builtins, ...usable.filter(({ manifest }) => manifest.enabled).map((hook) => loadedHook(hook, deps))],
    webhooks: Object.entries(deps.webhooks()).map(([name, options]) => before.find((webhook) => webhook.is(name, options)) ?? new OutgoingWebhook(name, options, { ...loadedDeps(deps), fetch: deps.fetch, redact: (text) => deps.redact(text) })),
    broken: found.filter(isBroken),
    disabled: usable.filter(({ manifest }) => !manifest.enabled).map(({ id }) => id),
  };
};
