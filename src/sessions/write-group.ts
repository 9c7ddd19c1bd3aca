import { setTranscriptRow } from '../store/messages/inbox.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import { resultRows, userMessage } from './user-message.ts';
import type { ItemGroup, LoadedMedia } from './user-message.ts';

export const noMedia: LoadedMedia = { attachments: [], notes: [] };

/** Writes one message into the transcript; answers the number of its row. */
export const writeGroup = async (tx: Writing, turn: RunningTurn, group: ItemGroup, content: { media: LoadedMedia; shared: boolean }): Promise<number> => {
  const said = userMessage(group, content.media, content.shared);
  const results = resultRows(group);
  const rows = results.length > 0 && said.content === '' && said.attachments === undefined ? results : [...results, said];
  let rowId = 0;
  for (const row of rows) rowId = await appendMessage(tx, { sessionId: turn.sessionId, turnId: turn.id }, row);
  for (const item of group) await setTranscriptRow(tx, item.id, rowId);
  return rowId;
};
