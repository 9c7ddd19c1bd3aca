import { Command } from 'commander';
import { StoreError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { inspectStore } from '../../store/inspect.ts';
import type { Inspection } from '../../store/inspect.ts';
import { readAlone } from '../configuration/settings.ts';
import { json, paint, span, table } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { storePath } from '../home/open-home.ts';
import { knownHomes } from './known-homes.ts';
import { holderOf, outsideText, startingText } from './process.ts';
import type { HomeHolder } from './process.ts';
import { silenceFix, silenceOf, silenceText } from './silence.ts';
import type { Silence } from './silence.ts';

interface Row {
  readonly home: string;
  readonly holder: HomeHolder;
  readonly silence: Silence | undefined;
}

const inspect = async (options: Parameters<typeof inspectStore>[0]): Promise<Inspection | undefined> => {
  try {
    return await inspectStore(options);
  } catch (error) {
    // One home that cannot be read is no reason to say nothing of the others.
    if (error instanceof StoreError) return undefined;
    throw error;
  }
};

/** Undefined also where the database cannot be asked without a secret that stands elsewhere. */
const silenceIn = async (terminal: Terminal, home: string, holder: HomeHolder): Promise<Silence | undefined> => {
  if (holder.type !== 'gateway' || holder.doing !== undefined) return undefined;
  const { store, http } = await readAlone({ ...terminal, env: { ...terminal.env, HERMES_HOME: home } });
  if (store === undefined) return undefined;
  await using database = await inspect({ databaseUrl: store.database_url, path: storePath(home), clock: systemClock, wholeBytes: 0 });
  if (database === undefined || database.version !== database.expected) return undefined;
  return await silenceOf(holder.pid, { http, read: (work) => database.read(work) });
};

const words = ({ holder, silence }: Row): 'stopped' | 'terminal' | 'outside' | 'starting' | 'running' | 'silent' => {
  if (startingText(holder) !== undefined) return 'starting';
  if (holder.type === 'gateway') return silence === undefined ? 'running' : 'silent';
  return holder.type === 'nobody' ? 'stopped' : holder.type;
};

const shown = (terminal: Terminal, { holder, silence }: Row): string => {
  const starting = startingText(holder);
  if (starting !== undefined) return paint(terminal, 'yellow', starting);
  if (holder.type === 'terminal') return 'hosted by a terminal chat';
  if (holder.type === 'outside') return outsideText;
  if (holder.type === 'nobody') return paint(terminal, 'dim', 'stopped');
  if (silence !== undefined) return `${paint(terminal, 'red', silenceText(holder.pid, silence))} (${silenceFix})`;
  return paint(terminal, 'green', `running, process ${holder.pid}, ${span(Date.now() - holder.sinceMs)}`);
};

export const listCommand = (terminal: Terminal): Command =>
  new Command('list')
    .description('Every home in which this user has run a gateway, and what runs there')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  hermes gateway list')
    .action(async (options: { readonly json?: true }) => {
      const look = async (home: string): Promise<Row> => {
        const holder = holderOf(home);
        return { home, holder, silence: await silenceIn(terminal, home, holder) };
      };
      const rows = await Promise.all(knownHomes(terminal.env).map(look));
      if (options.json === true) return terminal.write(json(rows.map((row) => ({ home: row.home, state: words(row), pid: row.holder.type === 'gateway' ? row.holder.pid : null, ...(row.silence !== undefined && { silent_ms: row.silence.forMs }) }))));
      return terminal.write(rows.length === 0 ? 'This user has run no gateway yet.\n' : `${table(rows.map((row) => [row.home, shown(terminal, row)]))}\n`);
    });
