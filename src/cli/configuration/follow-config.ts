import { formatProblem } from '../../config/problem.ts';
import { watchConfig } from '../../config/upkeep/watch-config.ts';
import type { ConfigChange } from '../../config/upkeep/watch-config.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { GatewayConfig } from '../../gateway/settings.ts';
import { actRecorder, recordAct } from '../../lib/audit-log.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Redactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Terminal } from '../environment.ts';
import type { ConfigNote } from '../gateway/config-note.ts';
import { keepConfig } from './keep-config.ts';
import { sections } from './settings.ts';
import type { Config } from './settings.ts';

export interface Following {
  readonly home: string;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly gateway: Pick<Gateway, 'configure'>;
  /** What of a configuration the gateway runs with. */
  configOf(config: Config): GatewayConfig;
  /** How far the files, as they are now, could be taken over. */
  onRead?(note: ConfigNote): void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** Names of what has changed, never values. */
const changedText = ({ sections: changed, accounts }: ConfigChange<typeof sections>): string => [...changed.map(({ name }) => name), ...accounts.added.map((account) => `+${account}`), ...accounts.removed.map((account) => `-${account}`), ...accounts.changed].join(', ');

/** Lets a gateway take over what changes in the configuration files, until the signal comes. What could not be applied is tried again. */
export const followConfig = (terminal: Terminal, config: Config, following: Following): Promise<void> => {
  const { home, log, redactor, gateway, signal, clock = systemClock } = following;
  let awaitingRestart: readonly string[] = [];
  return watchConfig({
    home,
    env: terminal.env,
    sections,
    platforms,
    redactor,
    commands: terminal.commands,
    current: config,
    signal,
    clock,
    onChange: async (change) => {
      try {
        await gateway.configure(following.configOf(change.config));
      } catch (error) {
        log.error({ err: error }, 'config.not_applied');
        return false;
      }
      await keepConfig(terminal, home, { log, commands: change.commands });
      actRecorder((act) => recordAct(home, act, systemClock.now()), log)({ by: 'the gateway', act: 'config take over', subject: changedText(change) });
      log.info({ sections: change.sections.map(({ name }) => name), accounts: change.accounts, awaiting_restart: change.awaitingRestart }, 'config.reloaded');
      ({ awaitingRestart } = change);
      if (awaitingRestart.length > 0) log.warn({ sections: awaitingRestart, fix: 'hermes gateway restart' }, 'config.awaits_restart');
      following.onRead?.({ isUsable: true, awaitingRestart });
      return true;
    },
    onProblem: (problems) => {
      following.onRead?.({ isUsable: false, awaitingRestart });
      log.error({ problems: problems.map(formatProblem) }, 'config.kept_last_good');
    },
    onMended: () => following.onRead?.({ isUsable: true, awaitingRestart }),
    onUnwatched: (error) => log.error({ err: error }, 'config.not_watched'),
  })
    .then(({ closed }) => closed)
    .catch((error: unknown) => log.error({ err: error }, 'config.no_longer_watched'));
};
