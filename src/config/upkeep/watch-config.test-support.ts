import assert from 'node:assert/strict';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { loadConfig } from '../load-config.ts';
import { formatProblem } from '../problem.ts';
import { samplePlatforms, sampleSections } from '../sample-config.ts';
import type { TemporaryHome } from '../sample-config.ts';
import { newSecretCommands } from '../secrets/secret-commands.ts';
import { watchConfig } from './watch-config.ts';
import type { ConfigChange } from './watch-config.ts';

export type Change = ConfigChange<typeof sampleSections>;
type Report = { readonly change: Change } | { readonly problems: readonly string[] };

/** The real clock with waits cut to a tenth. */
export const hurriedClock: Clock = { now: () => systemClock.now(), sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) };

interface Watched extends AsyncDisposable {
  /** The next thing the watch says. */
  next(): Promise<Report>;
  /** Everything it has said that nobody asked for. */
  readonly unread: readonly Report[];
  /** The first time that it says that nothing is wrong any more. */
  readonly mended: Promise<void>;
  /** Stops the watch and waits until it has ended. */
  stop(): Promise<void>;
}

/** Watches a home until it is stopped. */
export const watchHome = async (home: TemporaryHome): Promise<Watched> => {
  const stopping = new AbortController();
  const options = { home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms, commands: newSecretCommands() };
  const current = await loadConfig(options);
  assert.ok(current.ok);
  const unread: Report[] = [];
  const mended = Promise.withResolvers<void>();
  let wake = (): void => undefined;
  const say = (report: Report): void => {
    unread.push(report);
    wake();
  };
  const { closed } = await watchConfig({
    ...options,
    current,
    onChange(change) {
      say({ change });
      return true;
    },
    onProblem: (problems) => say({ problems: problems.map(formatProblem) }),
    onMended: () => mended.resolve(),
    onUnwatched: (error) => assert.fail(String(error)),
    signal: stopping.signal,
    clock: hurriedClock,
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await closed;
  };
  return {
    unread,
    mended: mended.promise,
    async next() {
      if (unread.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return unread.shift() ?? assert.fail('nothing was said');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

export const changeOf = (report: Report): Change => ('change' in report ? report.change : assert.fail(report.problems.join('\n')));
export const problemsOf = (report: Report): readonly string[] => ('problems' in report ? report.problems : assert.fail('expected problems'));
