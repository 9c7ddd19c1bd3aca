import { existsSync } from 'node:fs';
import { evaluate } from '../../config/evaluate.ts';
import type { LoadedConfig } from '../../config/evaluate.ts';
import { resolveHome } from '../../config/home.ts';
import { readTexts } from '../../config/text/config-texts.ts';
import { StoreError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { newRedactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import { inspectStore } from '../../store/inspect.ts';
import type { Inspection } from '../../store/inspect.ts';
import type { Terminal } from '../environment.ts';
import { holderOf, startingText } from '../gateway/process.ts';
import { silenceOf } from '../gateway/silence.ts';
import type { Silence } from '../gateway/silence.ts';
import { storePath } from '../home/open-home.ts';
import { readConfig, sections } from '../configuration/settings.ts';
import type { Config } from '../configuration/settings.ts';

/** Reading a larger database whole would take longer than anybody waits. */
const wholeBytes = 256 * 1024 * 1024;

/** What every check looks at. Nothing of it changes anything. */
export interface Examination extends AsyncDisposable {
  readonly terminal: Terminal;
  readonly home: string;
  readonly homeExists: boolean;
  readonly offline: boolean;
  /** How long a model or a platform may take to answer. */
  readonly answerMs: number;
  readonly clock: Clock;
  readonly loaded: LoadedConfig<typeof sections>;
  /** Undefined when it cannot be used. */
  readonly config: Config | undefined;
  /** config.yaml itself holds a secret. */
  readonly secretInConfig: boolean;
  /** A gateway, or a terminal that hosts one, has this home and runs. */
  readonly isRunning: boolean;
  /** By a process of another container or machine. */
  readonly isOutside: boolean;
  /** In words, that one has this home and does not run yet. */
  readonly starting: string | undefined;
  /** It has this home, and does nothing any more. */
  readonly silence: Silence | undefined;
  readonly database: Inspection | StoreError | undefined;
  redact(text: string): string;
}

/** The database when it can be asked: it is there, undamaged and of our version. */
export const askable = ({ database }: Pick<Examination, 'database'>): Inspection | undefined => (database === undefined || database instanceof StoreError || database.version !== database.expected ? undefined : database);

const openDatabase = async (home: string, config: Config | undefined, clock: Clock): Promise<Inspection | StoreError | undefined> => {
  try {
    return await inspectStore({ databaseUrl: config?.sections.store.database_url, path: storePath(home), clock, wholeBytes });
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
};

const silenceIn = async (home: string, config: Config | undefined, database: Examination['database']): Promise<Silence | undefined> => {
  const asked = askable({ database });
  const holder = holderOf(home);
  return asked === undefined || holder.type !== 'gateway' || holder.doing !== undefined ? undefined : silenceOf(holder.pid, { http: config?.sections.http, read: (work) => asked.read(work) });
};

export const examine = async (terminal: Terminal, options: { readonly offline: boolean; readonly answerMs: number }): Promise<Examination> => {
  const home = resolveHome(terminal.env);
  const redactor = terminal.redactor ?? newRedactor();
  const loaded = await readConfig(terminal, redactor);
  const config = loaded.ok ? loaded : undefined;
  const texts = await readTexts(home);
  const database = await openDatabase(home, config, systemClock);
  const holder = holderOf(home);
  const starting = startingText(holder);
  return {
    terminal,
    home,
    homeExists: existsSync(home),
    offline: options.offline,
    answerMs: options.answerMs,
    clock: systemClock,
    loaded,
    config,
    secretInConfig: texts.ok && evaluate({ env: terminal.env, sections, platforms }, texts.texts).holdsSecret.config,
    isRunning: starting === undefined && holder.type !== 'nobody',
    isOutside: holder.type === 'outside',
    starting,
    silence: await silenceIn(home, config, database),
    database,
    redact: (text) => redactor.redact(text),
    async [Symbol.asyncDispose]() {
      if (database !== undefined && !(database instanceof StoreError)) await database[Symbol.asyncDispose]();
    },
  };
};
