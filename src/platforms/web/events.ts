import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import { openJournalStream } from '../journal-stream.ts';
import type { Reader, StreamFormat } from '../journal-stream.ts';
import type { Live } from '../live.ts';
import type { WebJournal } from './journal.ts';
import { entryEvent, liveEvent } from './wire.ts';
import type { JournalFrame, LiveFrame } from './wire.ts';

export interface EventsDeps {
  readonly journal: WebJournal;
  readonly watch: AccountData['watch'];
  readonly live: Live;
  readonly clock: Clock;
}

/** After this the reader has to come back, and its login is looked at again. */
const longestMs = 15 * 60_000;

const liveText = (frame: LiveFrame): string => `event: ${liveEvent}\ndata: ${JSON.stringify(frame)}\n\n`;

const serverEvents: StreamFormat<JournalFrame, LiveFrame> = {
  opening: 'retry: 1000\n\n',
  entry: (frame) => `id: ${frame.seq}\nevent: ${entryEvent}\ndata: ${JSON.stringify(frame)}\n\n`,
  live: liveText,
  ready: liveText({ type: 'ready' }),
  keepAlive: ': here\n\n',
};

/** Server-sent events: everything stored after the reader's cursor, then what happens. */
export const openEvents = ({ journal, live, watch, clock }: EventsDeps, reader: Reader): ReadableStream<Uint8Array> =>
  openJournalStream({ after: (seq, limit) => journal.after(seq, { limit }), snapshot: live.snapshot, subscribe: live.subscribe, watch, clock }, serverEvents, { ...reader, longestMs });
