import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { newModelLists } from '../../agent/models/endpoints/model-lists.ts';
import type { ModelLists } from '../../agent/models/endpoints/model-lists.ts';
import { newFileState } from '../../agent/tools/files/file-access.ts';
import type { FileState } from '../../agent/tools/files/file-access.ts';
import { Delegations } from '../../agent/tools/delegation/delegations.ts';
import { McpServers } from '../../agent/tools/mcp/servers.ts';
import { Processes } from '../../agent/tools/terminal/processes.ts';
import { newSessionFolders } from '../../agent/tools/terminal/session-folders.ts';
import type { SessionFolders } from '../../agent/tools/terminal/session-folders.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { enqueueNotice } from '../../sessions/notice.ts';
import { withdrawNotice } from '../../store/messages/inbox.ts';
import { newMediaNotes } from '../../store/messages/media-notes.ts';
import type { MediaNotes } from '../../store/messages/media-notes.ts';
import type { Store } from '../../store/store.ts';
import type { GatewaySettings } from '../settings.ts';

export interface SharedDeps {
  readonly home: string;
  readonly version: string;
  /** This gateway's node. */
  readonly owner: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  settings(): GatewaySettings;
  redact(text: string): string;
  childEnvironment(): Readonly<Record<string, string>>;
}

/** What all agents of one gateway have together. */
export interface SharedParts {
  readonly userHome: string;
  readonly lists: ModelLists;
  /** What was found out about files that people sent. */
  readonly notes: MediaNotes;
  readonly files: FileState;
  readonly folders: SessionFolders;
  readonly processes: Processes;
  readonly delegations: Delegations;
  readonly mcp: McpServers;
  start(): Promise<void>;
  /** Looks after what an earlier gateway of this home has left running. Only for whoever is the only one in it. */
  takeOver(): Promise<void>;
  /** The settings have changed. */
  configure(): Promise<void>;
  stop(): Promise<void>;
}

export const newSharedParts = (deps: SharedDeps): SharedParts => {
  const { home, version, store, clock, log } = deps;
  const processes = new Processes({
    store,
    clock,
    log,
    folder: join(home, 'processes'),
    owner: `${hostname()}:${home}`,
    redact: (text) => deps.redact(text),
    notify: async (notice) => void (await store.write((tx) => enqueueNotice(tx, { ...notice, nowMs: clock.now() }))),
    withdraw: async (key) => void (await store.write((tx) => withdrawNotice(tx, key))),
  });
  const delegations = new Delegations({
    store,
    clock,
    log,
    owner: deps.owner,
    announce: enqueueNotice,
    settings: () => deps.settings().delegation,
    redact: (text) => deps.redact(text),
    release: (childId) => processes.killOf(childId),
  });
  const mcp = new McpServers({ home, version, clock, log, redact: (text) => deps.redact(text), environment: () => deps.childEnvironment() });
  return {
    userHome: homedir(),
    lists: newModelLists({ home, clock, log, fetch }),
    notes: newMediaNotes(store),
    files: newFileState(),
    folders: newSessionFolders(),
    processes,
    delegations,
    mcp,
    async start() {
      await processes.start();
      await delegations.start();
      await mcp.configure(deps.settings().mcp_servers);
    },
    async takeOver() {
      await processes.adopt();
      await delegations.recover();
    },
    configure: () => mcp.configure(deps.settings().mcp_servers),
    async stop() {
      await delegations.stop();
      await processes.stop();
      await mcp.close();
    },
  };
};
