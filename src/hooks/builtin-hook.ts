import { HookError } from './hook-error.ts';
import type { HookManifest } from './manifest.ts';
import type { HookRunner } from './runner.ts';

/** A hook that comes with the gateway and is always there. */
export interface BuiltinHook {
  readonly id: string;
  readonly manifest: HookManifest;
  handle(event: string, context: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Runs code of ours where it stands. */
export const builtinRunner = (hook: BuiltinHook): HookRunner => ({
  async call(event, context, { signal }) {
    try {
      return await hook.handle(event, context, signal);
    } catch (cause) {
      throw new HookError('failed', cause instanceof Error ? cause.message : String(cause), { cause });
    }
  },
  close: () => Promise.resolve(),
});
