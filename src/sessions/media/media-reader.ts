import { join } from 'node:path';
import type { Models } from '../../agent/models/models.ts';
import { markUntrusted } from '../../agent/untrusted-text.ts';
import type { MediaRef } from '../../core/message.ts';
import type { Attachment } from '../../core/transcript.ts';
import type { InboxItem } from '../../store/messages/inbox.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { describeSticker } from './describe-sticker.ts';
import { capitalised, fileWords } from './file-words.ts';
import { hear } from './hear.ts';
import type { HearDeps } from './hear.ts';
import type { SttOptions } from './options.ts';
import { mostQuotedBytes, quoteText } from './quote-text.ts';
import { isPicture, unseenImage } from './unseen-image.ts';

/** A file of a message, still on its platform. */
export interface SentFile {
  readonly item: InboxItem;
  readonly media: MediaRef;
  fetch(): Promise<Attachment>;
}

/** What becomes of a file: it is attached, or a note stands for it, or both. */
export interface ReadFile {
  readonly attachment?: Attachment;
  readonly note?: string;
  /** What was said in a voice message. */
  readonly heard?: string;
}

/** Puts the files of one message into words, where words are needed. */
export interface MediaReader {
  /** Fetches the file if it has to be had. Rejects when it cannot be fetched, or with the store. */
  read(file: SentFile, signal: AbortSignal): Promise<ReadFile>;
  /** The text of an attached text file, for as long as the message has room; undefined for any other file. */
  quote(attachment: Attachment): Promise<string | undefined>;
}

/** Answers who reads the files of a message. */
export type OpenMediaReader = (item: InboxItem) => Promise<MediaReader>;

export interface MediaReaderDeps extends HearDeps {
  readonly store: Store;
  stt(): SttOptions;
  /** What an agent's configuration has to offer; undefined for an agent that is not ours. */
  models(agent: string): Promise<Pick<Models, 'endpointFor' | 'completeText' | 'contextTokens'> | undefined>;
}

type AgentModels = Awaited<ReturnType<MediaReaderDeps['models']>>;

const withWords = (media: MediaRef, text: string): string => {
  if (text === '') return `[${capitalised(fileWords(media))}: no words were recognised in it.]`;
  // A voice message is what the person says; a recording that they send may be anybody's.
  return media.kind === 'voice' ? `[${capitalised(fileWords(media))}] “${text}”` : markUntrusted(fileWords(media), text);
};

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most).toWellFormed()}… (the first ${most} of ${text.length} characters)`);

const readRecording = async (deps: MediaReaderDeps, file: SentFile, own: { readonly models: AgentModels; readonly mostChars: number }, signal: AbortSignal): Promise<ReadFile> => {
  const { media } = file;
  const attachment = await file.fetch();
  const heard = await hear(deps, attachment, { endpoint: own.models?.endpointFor('transcription'), stt: deps.stt() }, signal);
  if (heard.type === 'unheard') return { attachment, note: `[${capitalised(fileWords(media))}: it was not transcribed because ${heard.because}. The file is kept.]` };
  const note = withWords(media, cut(heard.text, own.mostChars));
  return { attachment, note, ...(media.kind === 'voice' && heard.text !== '' && { heard: heard.text }) };
};

const readOther = async (deps: MediaReaderDeps, file: SentFile): Promise<ReadFile> => {
  const attachment = await file.fetch();
  const note = await unseenImage(deps.folder, attachment);
  return { attachment, ...(note !== undefined && { note }) };
};

const newReader = (deps: MediaReaderDeps, models: AgentModels, roomBytes: number): MediaReader => {
  let leftBytes = roomBytes;
  return {
    async read(file, signal) {
      switch (file.media.kind) {
        case 'voice':
        case 'audio':
          return readRecording(deps, file, { models, mostChars: roomBytes }, signal);
        case 'sticker':
          return describeSticker({ ...deps, look: models?.completeText('vision') }, { ...file, account: file.item.event.account }, signal);
        case 'photo':
        case 'video':
        case 'document':
        case 'animation':
          return readOther(deps, file);
        default:
          throw file.media.kind satisfies never;
      }
    },
    async quote({ kind, mime, path, name }) {
      if (kind !== 'document' || isPicture(mime)) return undefined;
      const quoted = await quoteText({ path: join(deps.folder, path), name }, leftBytes);
      leftBytes -= quoted?.bytes ?? 0;
      return quoted?.text;
    },
  };
};

/** Readers of what people send, each for the agent that answers the message. */
export const newMediaReaders =
  (deps: MediaReaderDeps): OpenMediaReader =>
  async (item) => {
    const session = await deps.store.read((db) => findSession(db, item.sessionId));
    const models = session === undefined ? undefined : await deps.models(session.agent);
    // A token is about four bytes: the files of a message take a quarter of the window at most.
    const windowBytes = models?.contextTokens(session?.settings.model) ?? mostQuotedBytes;
    return newReader(deps, models, Math.min(mostQuotedBytes, windowBytes));
  };
