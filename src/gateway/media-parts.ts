import type { SectionValues } from '../config/section.ts';
import type { Connections } from '../delivery/connections.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AttachmentOptions } from '../sessions/attachments.ts';
import { echoTranscripts } from '../sessions/media/echo-transcripts.ts';
import { newMediaReaders } from '../sessions/media/media-reader.ts';
import type { sttSection, ttsSection } from '../sessions/media/options.ts';
import { SpokenAnswers } from '../sessions/media/spoken-answers.ts';
import { newMediaNotes } from '../store/messages/media-notes.ts';
import type { Store } from '../store/store.ts';
import type { Agents } from './agents/agents.ts';
import type { storeSection } from './settings.ts';

export interface MediaPartsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly owner: string;
  readonly mediaFolder: string;
  readonly connections: Connections;
  readonly agents: Pick<Agents, 'get'>;
  settings(): SectionValues<readonly [typeof sttSection, typeof ttsSection, typeof storeSection]>;
  /** Names of the accounts that there are, connected or not. */
  accounts(): readonly string[];
}

export interface MediaParts {
  /** What happens to the files that people send. */
  readonly attachments: AttachmentOptions;
  readonly spoken: SpokenAnswers;
}

const mebibyte = 1024 * 1024;

/** What people send and hear: files, voice messages, spoken answers. */
export const newMediaParts = (deps: MediaPartsDeps): MediaParts => {
  const { store, clock, log, owner, mediaFolder: folder, connections, agents } = deps;
  return {
    attachments: {
      folder,
      maxBytes: deps.settings().store.media_max_mb * mebibyte,
      clock,
      log,
      adapter: (account) => connections.adapter(account),
      openReader: newMediaReaders({ store, notes: newMediaNotes(store), clock, log, folder, stt: () => deps.settings().stt, models: async (agent) => (await agents.get(agent)).models }),
      async echo(tx, turn, heard) {
        const platform = connections.platform(turn.target.account);
        if (platform !== undefined && deps.settings().stt.echo_transcripts) await echoTranscripts(tx, platform, { target: turn.target, turnId: turn.id, heard });
      },
    },
    spoken: new SpokenAnswers({
      store,
      clock,
      log,
      owner,
      folder,
      connections,
      accounts: () => deps.accounts().filter((account) => connections.adapter(account) !== undefined),
      tts: () => deps.settings().tts,
      endpoint: async (agent) => (await agents.get(agent)).models.endpointFor('speech'),
    }),
  };
};
