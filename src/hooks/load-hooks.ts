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

const loadedDeps = (deps: LoadDeps) => ({ clock: deps.clock, log: deps.log, onRun: (run: HookRun) => deps.onRun?.(run) });

interface BroughtUp {
  readonly hook: LoadedHook;
  readonly broken: readonly BrokenHook[];
}

/** Loads a module at once, so that its first event does not wait. One that cannot be loaded is there all the same: it may be one without which nothing may pass. */
const bringUp = async (found: FoundHook, deps: LoadDeps): Promise<BroughtUp> => {
  const { id, agent, folder, handler } = found;
  const onLine = (line: string): void => {
    deps.log.debug({ hook: id, line }, 'hook.printed');
    deps.onLine?.(id, line);
  };
  const shared = { clock: deps.clock, childEnvironment: () => deps.childEnvironment(), onLine };
  if (handler.kind !== 'module') return { hook: new LoadedHook(found, programRunner(found, { ...shared, slots }), loadedDeps(deps)), broken: [] };
  const runner = new ModuleRunner(found, shared);
  const hook = new LoadedHook(found, runner, loadedDeps(deps));
  try {
    await runner.load();
    return { hook, broken: [] };
  } catch (error) {
    return { hook, broken: [{ id, agent, folder, problem: error instanceof Error ? error.message : String(error) }] };
  }
};

/** Finds and loads every hook there is. Webhooks that have not changed are taken over from `before`, with what they still have to send. */
export const loadHooks = async (deps: LoadDeps, before: readonly OutgoingWebhook[]): Promise<HookSet> => {
  const found = (await Promise.all(deps.folders().map(discoverHooks))).flat();
  const usable = found.filter(isUsable);
  const builtins = deps.builtins.map((hook) => new LoadedHook({ id: hook.id, agent: undefined, manifest: hook.manifest }, builtinRunner(hook), loadedDeps(deps)));
  const own = await Promise.all(usable.filter(({ manifest }) => manifest.enabled).map((hook) => bringUp(hook, deps)));
  return {
    hooks: [...builtins, ...own.map(({ hook }) => hook)],
    webhooks: Object.entries(deps.webhooks()).map(([name, options]) => before.find((webhook) => webhook.is(name, options)) ?? new OutgoingWebhook(name, options, { ...loadedDeps(deps), fetch: deps.fetch, redact: (text) => deps.redact(text) })),
    broken: [...found.filter(isBroken), ...own.flatMap(({ broken }) => broken)],
    disabled: usable.filter(({ manifest }) => !manifest.enabled).map(({ id }) => id),
  };
};
