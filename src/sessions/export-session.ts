import type { TranscriptMessage } from '../core/transcript.ts';
import type { Session } from '../store/sessions/sessions.ts';
import { pageOfMessages } from '../store/sessions/transcripts.ts';
import type { StoredMessage } from '../store/sessions/transcripts.ts';
import type { Store } from '../store/store.ts';

export const exportFormats = ['markdown', 'jsonl', 'json'] as const;

export type ExportFormat = (typeof exportFormats)[number];

const pageSize = 500;

/** Every message, undone ones included, in pages, so that a long conversation needs no more memory than a short one. */
async function* everyMessage(store: Store, sessionId: string): AsyncGenerator<StoredMessage> {
  let afterId = 0;
  for (;;) {
    const page = await store.read((db) => pageOfMessages(db, sessionId, { afterId, limit: pageSize, activeOnly: false }));
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}

/** Who speaks in a row. */
export const headingOf = (message: TranscriptMessage): string => (message.role === 'tool' ? `tool ${message.toolName ?? ''}` : message.role);

/** A row as people read it: what was said, called and attached. */
export const bodyOf = (message: TranscriptMessage): string => {
  const calls = (message.toolCalls ?? []).map((call) => `→ ${call.name}(${call.arguments})`);
  const files = (message.attachments ?? []).map((file) => `[${file.kind} ${file.name}: ${file.path}]`);
  return [message.content, ...calls, ...files].filter((part) => part !== '').join('\n');
};

const at = (ms: number): string => new Date(ms).toISOString();

const fate = ({ active, archived }: StoredMessage): string => (active ? '' : archived ? ' · summarised for the model' : ' · undone');

const asMarkdown = (stored: StoredMessage): string => `### ${headingOf(stored.message)} · ${at(stored.createdAtMs)}${fate(stored)}\n\n${bodyOf(stored.message)}\n\n`;

const asObject = ({ id, message, createdAtMs, active, archived }: StoredMessage): object => ({ id, at: at(createdAtMs), active, ...(archived && { archived }), ...message });

/** A whole conversation as text, piece by piece. */
export async function* exportSession(store: Store, session: Session, format: ExportFormat): AsyncGenerator<string> {
  const { id, title, account, chatType } = session;
  if (format === 'markdown') yield `# ${title ?? id}\n\n${account} · ${chatType} · ${id}\n\n`;
  if (format === 'json') yield `${JSON.stringify({ id, title, account, chatType, createdAt: at(session.createdAtMs) }).slice(0, -1)},"messages":[`;
  let first = true;
  for await (const message of everyMessage(store, id)) {
    if (format === 'markdown') yield asMarkdown(message);
    else if (format === 'jsonl') yield `${JSON.stringify(asObject(message))}\n`;
    else yield `${first ? '' : ','}\n${JSON.stringify(asObject(message))}`;
    first = false;
  }
  if (format === 'json') yield '\n]}\n';
}
