import type { Skill } from '../agent/tools/skills/load-skills.ts';
import type { Prepared } from '../delivery/prepare-text.ts';
import type { ResolveDeps } from '../delivery/resolve-target.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Store } from '../store/store.ts';
import type { FoundFolder } from './job-request.ts';
import type { CronOptions } from './options.ts';

/** What a job needs of the agent that it belongs to. */
export interface CronAgent {
  /** Its own folder; its scripts lie in `scripts` there. */
  readonly home: string;
  findSkill(name: string): Skill | undefined;
  /** A folder that it is to work in. */
  findFolder(path: string): Promise<FoundFolder>;
  /** Takes out what a model may not have. */
  redact(text: string): string;
}

export interface CronDeps {
  /** Finds the places that results go to. */
  readonly targets: ResolveDeps;
  /** A result as it goes out to an account, with the files of the agent that it names. */
  prepare(text: string, to: { readonly account: string; readonly agent: string }, signal: AbortSignal): Promise<Prepared>;
  options(): CronOptions;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** This gateway's node. */
  readonly owner: string;
  /** Undefined for an agent that is not configured (any more). */
  agent(id: string): Promise<CronAgent | undefined>;
  /** What a script may know of our environment: no secrets. */
  childEnvironment(): Readonly<Record<string, string>>;
}
