import { openAsBlob } from 'node:fs';
import { PlatformError } from '../../core/errors.ts';
import type { OutboundMedia } from '../../core/message.ts';
import type { AccountData } from '../contract.ts';
import type { Address } from './address.ts';
import { integer, list, parseJson, record, records, text, timestamp } from './wire.ts';
import type { Json } from './wire.ts';

/** https://slack.com/help/articles/201330736: a file may have a gigabyte. */
export const maxUploadBytes = 1024 * 1024 * 1024;

const prefix = 'files:';
/** Longer than any message is still tried. */
const keepMs = 7 * 24 * 3600_000;

interface Shared {
  readonly atMs: number;
  readonly fileIds: readonly string[];
  /** The message that shows them, once they are known to be shown. */
  readonly messageId?: string;
}

const readShared = (value: string | undefined): Shared | undefined => {
  const stored = record(value === undefined ? undefined : parseJson(value));
  if (stored === undefined) return undefined;
  const messageId = text(stored['messageId']);
  return { atMs: integer(stored['atMs']) ?? 0, fileIds: list(stored['fileIds']).flatMap((id) => text(id) ?? []), ...(messageId !== undefined && { messageId }) };
};

const openFile = async ({ path, name }: OutboundMedia): Promise<Blob> => {
  try {
    return await openAsBlob(path);
  } catch (cause) {
    throw new PlatformError('not_found', `${name}: the file cannot be read`, { missing: 'file', file: name, cause });
  }
};

const blobOf = async (media: OutboundMedia): Promise<Blob> => {
  const { name } = media;
  const blob = await openFile(media);
  if (blob.size > maxUploadBytes) throw new PlatformError('too_large', `${name}: ${blob.size} bytes, and Slack takes ${maxUploadBytes}`, { file: name });
  if (blob.size === 0) throw new PlatformError('not_found', `${name}: the file is empty, and Slack takes none such`, { missing: 'file', file: name });
  return blob;
};

/** Brings the bytes to Slack, where nobody sees them yet. */
const upload = async ({ workspace: { api } }: Address, { media, bytes }: { media: OutboundMedia; bytes: Blob }, signal: AbortSignal): Promise<string> => {
  const name = media.name.toWellFormed() || 'file';
  const answer = await api.repeatable('files.getUploadURLExternal', { filename: name, length: bytes.size }, signal, 'chat');
  const [url, id] = [text(answer['upload_url']), text(answer['file_id'])];
  if (url === undefined || id === undefined) throw new PlatformError('unavailable', 'files.getUploadURLExternal: the answer has no address');
  await api.upload(url, bytes, signal);
  return id;
};

const sharedAs = (file: Json, channel: string): string | undefined => {
  const shares = record(file['shares']);
  const inChannel = [shares?.['public'], shares?.['private']].flatMap((places) => records(record(places)?.[channel]));
  return inChannel.map((share) => timestamp(share['ts'])).find((ts) => ts !== undefined);
};

/** The message that shows a file; the file itself where Slack has not named a message yet; undefined when it is not shown there. */
const shownAs = async ({ workspace: { api }, channel }: Address, fileId: string, signal: AbortSignal): Promise<string | undefined> => {
  const file = record((await api.repeatable('files.info', { file: fileId }, signal, 'chat'))['file']) ?? {};
  const isThere = [file['channels'], file['groups'], file['ims']].some((places) => list(places).includes(channel));
  return sharedAs(file, channel) ?? (isThere ? `${filePrefix}${fileId}` : undefined);
};

/** Ids of messages that are known by their file only. */
export const filePrefix = 'file:';

export interface Sharing {
  readonly address: Address;
  readonly data: AccountData;
  readonly key: string;
  readonly media: readonly OutboundMedia[];
  readonly comment: string | undefined;
  readonly mayBeShown: boolean;
  readonly nowMs: number;
}

/** Without its memory the files must not count as shown: they could be shown again. */
const unkept = (cause: unknown): never => {
  throw new PlatformError('unknown_outcome', 'which files were uploaded could not be stored', { cause });
};

/** Shows files in one message, with words above them. A repeat finds out what became of the attempt before. */
export const shareFiles = async (sharing: Sharing, signal: AbortSignal): Promise<string> => {
  const { address, data, media, comment, nowMs } = sharing;
  const name = `${prefix}${sharing.key}`;
  const before = readShared(await data.get(name).catch(unkept));
  if (before?.messageId !== undefined) return before.messageId;
  const [known] = before?.fileIds ?? [];
  const shown = sharing.mayBeShown && known !== undefined ? await shownAs(address, known, signal) : undefined;
  if (shown !== undefined) return shown;
  const files: Json[] = [];
  const blobs = await Promise.all(media.map(async (item) => ({ media: item, bytes: await blobOf(item) })));
  for (const blob of blobs) files.push({ id: await upload(address, blob, signal), title: blob.media.name.toWellFormed() });
  const fileIds = files.map(({ id }) => String(id));
  await data.set(name, JSON.stringify({ atMs: nowMs, fileIds } satisfies Shared)).catch(unkept);
  await address.workspace.api.once('files.completeUploadExternal', { files, channel_id: address.channel, thread_ts: address.threadTs, initial_comment: comment }, signal);
  const messageId = (await shownAs(address, fileIds[0] ?? '', signal).catch(ignoreRefusal)) ?? `${filePrefix}${fileIds[0] ?? ''}`;
  await data.set(name, JSON.stringify({ atMs: nowMs, fileIds, messageId } satisfies Shared)).catch(unkept);
  return messageId;
};

/** The files are shown; only the name of their message is not known. */
const ignoreRefusal = (error: unknown): undefined => {
  if (!(error instanceof PlatformError)) throw error;
  return undefined;
};

export const forgetFiles = async (data: AccountData, key: string): Promise<void> => {
  await data.remove(`${prefix}${key}`).catch(unkept);
};

/** Forgets messages that were begun and given up. */
export const forgetOldFiles = async (data: AccountData, nowMs: number): Promise<void> => {
  for (const { key, value } of await data.list(prefix)) if (nowMs - (readShared(value)?.atMs ?? 0) > keepMs) await data.remove(key);
};
