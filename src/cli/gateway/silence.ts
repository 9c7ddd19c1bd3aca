import { hostname } from 'node:os';
import type { HttpOptions } from '../../http/options.ts';
import { lastSignOf } from '../../store/nodes.ts';
import type { Store } from '../../store/store.ts';
import { span } from '../environment.ts';
import { askReady } from './ask-ready.ts';
import { probeDoor } from './probe-door.ts';

/** A gateway writes something down every few seconds. */
const patienceMs = 45_000;

/** A gateway whose process is there, and which does nothing any more: it is stopped, or its event loop is stuck. */
export interface Silence {
  readonly forMs: number;
  /** Those that it holds; what is stored about them is old. */
  readonly accounts: readonly string[];
}

export interface Evidence {
  /** Undefined when it may listen anywhere. */
  readonly http: Pick<HttpOptions, 'host' | 'port'> | undefined;
  read: Store['read'];
}

/** Whether the gateway that answers there says that it is not the one with this number. */
const isAnother = async (pid: number, http: NonNullable<Evidence['http']>): Promise<boolean> => {
  const said = await askReady(http);
  return said !== undefined && said.pid !== pid;
};

/** Undefined for one that answers, and where nothing shows that it does not. Whoever answers at its door is well, also when it cannot write. */
export const silenceOf = async (pid: number, { http, read }: Evidence, signal: AbortSignal = new AbortController().signal): Promise<Silence | undefined> => {
  const seen = await read((db) => lastSignOf(db, { host: hostname(), pid }));
  if (seen === undefined || seen.agoMs < patienceMs) return undefined;
  if (http !== undefined && http.port !== 0 && (await probeDoor(http, signal)).by === 'gateway' && !(await isAnother(pid, http))) return undefined;
  return { forMs: seen.agoMs, accounts: seen.accounts };
};

export const silenceText = (pid: number, { forMs }: Silence): string => `does not answer for ${span(forMs)}, process ${pid}`;

export const silenceFix = 'hermes gateway dump shows where it stands, hermes gateway stop --force ends it; nothing that was received is lost';
