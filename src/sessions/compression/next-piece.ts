import type { Stretch } from '../../store/sessions/archive.ts';
import { pageOfMessages } from '../../store/sessions/transcripts.ts';
import type { StoredMessage } from '../../store/sessions/transcripts.ts';
import type { Reading } from '../../store/store.ts';
import { renderRow } from './render-rows.ts';

/** As much of a conversation as is summarised at once. */
export interface Piece {
  readonly rows: readonly StoredMessage[];
  readonly throughId: number;
}

const pageSize = 100;
const mostRows = 1000;

/** The oldest messages of a stretch that fit, whole pieces of work only: tool calls stay with their results. Never empty while the stretch is not. */
export const nextPiece = async (db: Reading, sessionId: string, stretch: Stretch & { readonly mostBytes: number }): Promise<Piece> => {
  const keep = new Set(stretch.keepIds);
  const rows: StoredMessage[] = [];
  let bytes = 0;
  let { afterId } = stretch;
  for (;;) {
    const page = await pageOfMessages(db, sessionId, { afterId, limit: pageSize, activeOnly: true });
    for (const row of page) {
      const size = Buffer.byteLength(renderRow(row));
      const full = rows.length >= mostRows || bytes + size > stretch.mostBytes;
      if (row.id > stretch.throughId || (full && rows.length > 0 && row.message.role !== 'tool')) return { rows, throughId: rows.at(-1)?.id ?? 0 };
      if (keep.has(row.id)) continue;
      rows.push(row);
      bytes += size;
    }
    if (page.length < pageSize) return { rows, throughId: rows.at(-1)?.id ?? 0 };
    afterId = page.at(-1)?.id ?? afterId;
  }
};
