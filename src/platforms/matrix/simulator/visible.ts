import { createDecipheriv } from 'node:crypto';
import type { MediaKind } from '../../../core/message.ts';
import type { VisibleMessage } from '../../simulator.ts';
import { readRelation, record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import type { Room, StoredEvent, World } from './world.ts';

const blockEnds = /<\/(?:p|h[1-6]|li|blockquote|pre|tr|table|ul|ol)>/gi;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00A0' };

/** The words that a client shows for HTML. */
export const shownText = (html: string): string =>
  html
    .replaceAll('\n', '')
    .replace(/<br\s*\/?>/gi, '\n')
    .replace(blockEnds, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_whole, name: string) => entities[name] ?? '')
    .trim();

const textOf = (content: Json): string => {
  const html = content['format'] === 'org.matrix.custom.html' ? text(content['formatted_body']) : undefined;
  const isFile = content['url'] !== undefined || content['file'] !== undefined;
  if (isFile && (content['filename'] === undefined || content['filename'] === content['body'])) return '';
  return html === undefined ? (text(content['body']) ?? '') : shownText(html);
};

const kindOf = (content: Json): MediaKind => {
  switch (content['msgtype']) {
    case 'm.image':
      return 'photo';
    case 'm.video':
      return 'video';
    case 'm.audio':
      return content['org.matrix.msc3245.voice'] === undefined ? 'audio' : 'voice';
    default:
      return 'document';
  }
};

const bytesOf = (world: World, content: Json): Uint8Array | undefined => {
  const file = record(content['file']);
  const url = text(file?.['url'] ?? content['url']);
  const stored = world.files.get(url?.split('/').at(-1) ?? '');
  if (file === undefined || stored === undefined) return stored?.bytes;
  const decipher = createDecipheriv('aes-256-ctr', Buffer.from(text(record(file['key'])?.['k']) ?? '', 'base64url'), Buffer.from(text(file['iv']) ?? '', 'base64'));
  return decipher.update(stored.bytes);
};

const mediaOf = (world: World, content: Json): VisibleMessage['media'] => {
  const bytes = bytesOf(world, content);
  return bytes === undefined ? [] : [{ kind: kindOf(content), name: text(content['filename']) ?? text(content['body']) ?? '', bytes }];
};

const shownTypes: ReadonlySet<string> = new Set(['m.room.message', 'm.room.encrypted', 'm.reaction']);

/** What people see of the messages of one sender. `read` gives the content of an event, decrypted where it has to be. */
export const visibleMessages = (world: World, room: Room, sender: string, read: (stored: StoredEvent) => Json | undefined): readonly VisibleMessage[] => {
  const redacted = new Set(room.timeline.map(({ event }) => event['redacts']));
  const own = room.timeline.filter(({ event }) => event.sender === sender && shownTypes.has(event.type) && !redacted.has(event.event_id));
  const shown = new Map<string, { content: Json; edited: number; relation: ReturnType<typeof readRelation> }>();
  const reactions = new Map<string, string[]>();
  for (const stored of own) {
    const content = read(stored);
    if (content === undefined) continue;
    const relates = record(content['m.relates_to']);
    const relation = readRelation(content);
    const before = relation.replaces === undefined ? undefined : shown.get(relation.replaces);
    if (stored.event.type === 'm.reaction') reactions.set(String(relates?.['event_id']), [...(reactions.get(String(relates?.['event_id'])) ?? []), String(relates?.['key'])]);
    else if (before !== undefined && relation.replaces !== undefined) shown.set(relation.replaces, { ...before, content: record(content['m.new_content']) ?? {}, edited: before.edited + 1 });
    else if (relation.replaces === undefined) shown.set(stored.event.event_id, { content, edited: 0, relation });
  }
  return [...shown].map(([id, { content, edited, relation }]) => ({
    id,
    chatId: room.id,
    text: textOf(content),
    media: mediaOf(world, content),
    choices: [],
    reactions: reactions.get(id) ?? [],
    edited,
    ...(relation.thread !== undefined && { threadId: relation.thread }),
    ...(relation.inReplyTo !== undefined && { replyTo: relation.inReplyTo }),
  }));
};
