import { channelTypes, integer, list, record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { invalidForm, Refusal, unknownMessage } from './refusal.ts';
import type { CallBody } from './request-body.ts';
import { addChannel, holdsMessages } from './world.ts';
import type { Channel, StoredFile, StoredMessage, World } from './world.ts';

const longestText = 2000;
const maxUploadBytes = 10 * 1024 * 1024;

const checkContent = (content: string): string => {
  if ([...content].length > longestText) throw invalidForm('content', 'BASE_TYPE_MAX_LENGTH', `Must be ${longestText} or fewer in length.`);
  return content;
};

const checkComponents = (rows: readonly unknown[]): readonly unknown[] => {
  if (rows.length > 5) throw invalidForm('components', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
  for (const row of rows) {
    const buttons = list(record(row)?.['components']);
    if (buttons.length < 1 || buttons.length > 5) throw invalidForm('components', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
    for (const button of buttons) {
      const { custom_id: data, label } = record(button) ?? {};
      if (typeof data !== 'string' || data.length < 1 || data.length > 100) throw invalidForm('components', 'BASE_TYPE_BAD_LENGTH', 'custom_id must be between 1 and 100 in length.');
      if (typeof label !== 'string' || label.length < 1 || label.length > 80) throw invalidForm('components', 'BASE_TYPE_BAD_LENGTH', 'label must be between 1 and 80 in length.');
    }
  }
  return rows;
};

const takeFiles = (world: World, fields: Json, body: CallBody): readonly StoredFile[] =>
  [...body.files].map(([number, file]): StoredFile => {
    if (file.bytes.byteLength > maxUploadBytes) throw new Refusal(413, 40005, 'Request entity too large');
    const described = list(fields['attachments']).map(record).find((attachment) => Number(attachment?.['id']) === number);
    const seconds = Number(described?.['duration_secs']);
    const stored: StoredFile = {
      id: world.nextId(),
      name: text(described?.['filename']) ?? file.name,
      mime: file.mime,
      bytes: file.bytes,
      ...(described?.['duration_secs'] !== undefined && { durationSeconds: seconds, waveform: text(described['waveform']) ?? '' }),
    };
    world.files.set(stored.id, stored);
    return stored;
  });

const checkVoice = (flags: number, content: string, files: readonly StoredFile[]): void => {
  if ((flags & 8192) === 0) return;
  const [file, second] = files;
  const isRecording = file?.durationSeconds !== undefined && file.waveform !== undefined && file.waveform !== '';
  if (!isRecording || second !== undefined || content !== '') throw new Refusal(400, 50161, 'Voice messages must have a single audio attachment and no content');
};

export interface Draft {
  readonly fields: Json;
  readonly body: CallBody;
}

/** Checks what a bot wants to say. */
const compose = (world: World, { fields, body }: Draft): Pick<StoredMessage, 'content' | 'files' | 'components' | 'flags'> => {
  const content = checkContent(text(fields['content']) ?? '');
  const files = takeFiles(world, fields, body);
  const components = checkComponents(list(fields['components']));
  const flags = integer(fields['flags']) ?? 0;
  checkVoice(flags, content, files);
  if (content.trim() === '' && files.length === 0) throw new Refusal(400, 50006, 'Cannot send an empty message');
  return { content, files, components, flags };
};

const replyOf = (channel: Channel, fields: Json): string | undefined => {
  const reference = record(fields['message_reference']);
  const id = text(reference?.['message_id']);
  if (id === undefined) return undefined;
  if (channel.messages.has(id)) return id;
  if (reference?.['fail_if_not_exists'] === false) return undefined;
  throw invalidForm('message_reference', 'REPLIES_UNKNOWN_MESSAGE', 'Unknown message');
};

/** The bot says something; the same nonce again is the same message. */
export const writeMessage = (world: World, channel: Channel, draft: Draft): { readonly message: StoredMessage; readonly isNew: boolean } => {
  if (!holdsMessages(channel)) throw new Refusal(400, 50008, 'Cannot send messages in a non-text channel');
  const nonce = text(draft.fields['nonce']);
  if (nonce !== undefined && nonce.length > 25) throw invalidForm('nonce', 'BASE_TYPE_MAX_LENGTH', 'Must be 25 or fewer in length.');
  const known = nonce !== undefined && draft.fields['enforce_nonce'] === true ? world.nonces.get(nonce) : undefined;
  if (known !== undefined) return { message: known.message, isNew: false };
  const content = compose(world, draft);
  const replyTo = replyOf(channel, draft.fields);
  const message: StoredMessage = {
    ...content,
    id: world.nextId(),
    author: world.bot,
    atMs: world.clock.now(),
    type: replyTo === undefined ? 0 : 19,
    editedAt: null,
    edited: 0,
    reactions: new Map(),
    ...(replyTo !== undefined && { replyTo }),
    ...(nonce !== undefined && { nonce }),
  };
  channel.messages.set(message.id, message);
  channel.joined = true;
  if (nonce !== undefined) world.nonces.set(nonce, { channel, message });
  return { message, isNew: true };
};

export const findMessage = (channel: Channel, id: string): StoredMessage => {
  const message = channel.messages.get(id);
  if (message === undefined) throw unknownMessage();
  return message;
};

export const rewriteMessage = (world: World, message: StoredMessage, draft: Draft): void => {
  const { fields } = draft;
  if (fields['content'] !== undefined) message.content = checkContent(text(fields['content']) ?? '');
  if (fields['components'] !== undefined) message.components = checkComponents(list(fields['components']));
  if (draft.body.files.size > 0) message.files = takeFiles(world, fields, draft.body);
  message.edited += 1;
  message.editedAt = new Date(world.clock.now()).toISOString();
};

/** A thread of its own, below a message, or a post in a forum. */
export const openThread = (world: World, above: Channel, wanted: { readonly draft: Draft; readonly below?: StoredMessage }): Channel => {
  const { draft, below } = wanted;
  const name = text(draft.fields['name']) ?? '';
  if (name.length < 1 || name.length > 100) throw invalidForm('name', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.');
  if (above.type === channelTypes.dm || above.parentId !== undefined) throw new Refusal(400, 50024, 'Cannot execute action on this channel type');
  if (below !== undefined && world.channels.has(below.id)) throw new Refusal(400, 160004, 'A thread has already been created for this message');
  const isForum = !holdsMessages(above);
  const first = isForum ? record(draft.fields['message']) : undefined;
  if (isForum && first === undefined) throw invalidForm('message', 'BASE_TYPE_REQUIRED', 'This field is required');
  const thread = addChannel(world, { id: below?.id ?? world.nextId(), type: above.type === channelTypes.announcement ? channelTypes.announcementThread : channelTypes.publicThread, name, parentId: above.id, joined: true });
  if (below !== undefined) below.flags |= 32;
  if (first !== undefined) {
    const message = { ...writeMessage(world, thread, { fields: first, body: draft.body }).message, id: thread.id };
    thread.messages.clear();
    thread.messages.set(thread.id, message);
  }
  return thread;
};
