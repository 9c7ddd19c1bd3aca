import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Store } from '../../store/store.ts';
import type { Agent } from '../contract.ts';
import { AcpHost } from './acp-host.ts';
import { runAcpTurn } from './acp-turn.ts';
import { newClientFiles } from './client-files.ts';
import type { ClientFiles } from './client-files.ts';
import type { AcpOptions } from './options.ts';

export interface AcpAgentDeps {
  readonly options: Omit<AcpOptions, 'cwd'>;
  /** Where it works unless a turn says otherwise; absolute. Made when it is not there. */
  readonly cwd: string;
  /** What of our own environment a child may have; its own variables are put over it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly home: string;
  readonly userHome: string;
  readonly mediaFolder: string;
  readonly version: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a person has to answer what the agent wants to do. */
  approvalTimeoutMs(): number;
  /** Whether approvals are switched off for a conversation. */
  approvesAll(sessionId: string): Promise<boolean>;
}

const filesOf = (deps: AcpAgentDeps): Partial<ClientFiles> | undefined => {
  const { files } = deps.options;
  if (files === 'none') return undefined;
  const { read, write } = newClientFiles(deps);
  return files === 'write' ? { read, write } : { read };
};

/** Tells one program in one folder from every other: their sessions are not each other's. */
const makerOf = ({ options, cwd }: AcpAgentDeps): string => createHash('sha256').update(JSON.stringify([options.command, cwd])).digest('hex').slice(0, 16);

/** An agent that is another program. Disposing of it ends the program at once. */
export interface AcpAgent extends Agent, AsyncDisposable {
  /** Takes no new turns; the program ends with the last one that runs. */
  windDown(): void;
}

/**
 * An agent that is another program and speaks the Agent Client Protocol. It is started with its first turn, shared by all conversations, and started
 * again after it has died. Other settings need another one.
 */
export const newAcpAgent = (deps: AcpAgentDeps): AcpAgent => {
  const files = filesOf(deps);
  const host = new AcpHost({
    command: deps.options.command,
    cwd: deps.cwd,
    environment: { ...deps.environment, ...deps.options.env },
    version: deps.version,
    clock: deps.clock,
    log: deps.log,
    ...(files !== undefined && { files }),
  });
  const maker = makerOf(deps);
  return {
    run: (input, signal) => runAcpTurn({ ...deps, host, maker, command: deps.options.command }, input, signal),
    windDown: () => host.windDown(),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
};
