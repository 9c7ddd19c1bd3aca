import { ConfigError } from '../../core/errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { PortHold } from '../../http/hold-port.ts';
import { systemClock } from '../../lib/clock.ts';
import { inspectStore } from '../../store/inspect.ts';
import type { FileLock } from '../../store/locks/file-lock.ts';
import { lockHome } from '../../store/locks/home-lock.ts';
import type { Config } from '../configuration/settings.ts';
import { storePath } from '../home/open-home.ts';
import { noteAct } from '../note-act.ts';
import { planEnd } from './planned-end.ts';
import { probeDoor } from './probe-door.ts';
import { holderOf, isHeldBy, lookFor, sendSignal } from './process.ts';
import { endGateway } from './stop.ts';
import { takeSuccession } from './succession.ts';

/** The gateway that a new one takes over from. */
export interface Predecessor {
  readonly pid: number;
}

/** Where it happens. */
export interface Here {
  readonly home: string;
  readonly config: Config;
  readonly port: PortHold;
}

const drainMsOf = ({ sections }: Config): number => sections.agent.restart_drain_timeout * 1000;

/** Beyond what running turns get; whoever takes longer is ended by force. */
const marginMs = 10_000;

/** So long a gateway may take to start beside another. */
const startMs = 30_000;

/** The right to take over in a home, once whoever has it now is done. */
export const awaitSuccession = ({ home, config }: Pick<Here, 'home' | 'config'>): Promise<FileLock> => takeSuccession(home, drainMsOf(config) + 2 * marginMs + startMs);

/** A port that cannot be shared, and a database that has to be changed first, leave no room for two. */
const canBothRun = async ({ home, config, port }: Here): Promise<boolean> => {
  const { http, store: options } = config.sections;
  // One that does not answer may hold the database, and would leave nothing to whoever starts beside it.
  if (port.sharing !== 'beside' || (await probeDoor(http, new AbortController().signal)).by !== 'gateway') return false;
  await using store = await inspectStore({ databaseUrl: options.database_url, path: storePath(home), clock: systemClock, wholeBytes: 0 });
  return store !== undefined && store.version === store.expected;
};

const noteTakeOver = (home: string, from: Predecessor): void => noteAct(home, 'gateway take over', `process ${process.pid} from process ${from.pid}`);

/** Who runs in the home and will be taken over from. Where two cannot run side by side it is ended first, and nobody is left. */
export const findPredecessor = async (here: Here): Promise<Predecessor | undefined> => {
  const holder = holderOf(here.home);
  if (holder.type === 'gateway' && (await canBothRun(here))) return { pid: holder.pid };
  const stopped = await endGateway(here.home, { drainMs: drainMsOf(here.config), force: true });
  if (stopped !== 'not running' && holder.type === 'gateway') noteTakeOver(here.home, holder);
  return undefined;
};


const accountsEveryMs = 200;

/**
 * Lets the gateway before this one leave. From here on new connections come to this one; accounts come over one by one as the other lets go of
 * them, while it ends the turns that it runs. Answers the lock of the home.
 */
export const handOver = async (gateway: Gateway, from: Predecessor, here: Here): Promise<FileLock> => {
  const { home, config, port } = here;
  const free = (atMostMs: number): Promise<FileLock | undefined> => lookFor(() => lockHome(home), atMostMs);
  await planEnd(home, { pid: from.pid, end: 'replaced' });
  sendSignal(from.pid, 'SIGTERM');
  const looking = setInterval(() => gateway.takeAccounts(), accountsEveryMs);
  let lock: FileLock | undefined;
  try {
    // The kernel takes the lock from whoever dies; its number may stay until somebody has noticed that.
    lock = await free(drainMsOf(config) + marginMs);
    if (lock === undefined && isHeldBy(home, from.pid)) {
      sendSignal(from.pid, 'SIGKILL');
      lock = await free(marginMs);
    }
  } finally {
    clearInterval(looking);
  }
  if (lock === undefined) throw new ConfigError(`Another gateway has taken ${home} in the moment in which this one was to. This one ends.`, { mayPass: true });
  port.take();
  await gateway.takeOver();
  noteTakeOver(home, from);
  return lock;
};
