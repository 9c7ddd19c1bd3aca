import type { CompleteText } from '../../agent/models/complete-text.ts';
import { isModelImage } from '../../agent/models/media/load-images.ts';
import { ModelError } from '../../core/errors.ts';
import { platformOf } from '../../core/ids.ts';
import type { MediaRef } from '../../core/message.ts';
import type { Attachment } from '../../core/transcript.ts';
import type { Logger } from '../../lib/logger.ts';
import type { MediaNotes } from '../../store/messages/media-notes.ts';

export interface StickerDeps {
  readonly notes: MediaNotes;
  readonly log: Logger;
  /** Undefined where nobody can look at images. */
  readonly look: CompleteText | undefined;
}

export interface SentSticker {
  readonly account: string;
  readonly media: MediaRef;
  fetch(): Promise<Attachment>;
}

/** Either a note that stands for the sticker, or its file because nobody could describe it; neither for one that moves. */
export interface DescribedSticker {
  readonly note?: string;
  readonly attachment?: Attachment;
}

const patienceMs = 60_000;
const longest = 400;

const system = 'You describe stickers of messengers to somebody who cannot see them.';
const prompt = 'Say in one or two short sentences what this sticker shows and which mood or message it conveys. Quote words that are written on it. Answer with the description alone.';

/** On one line and in quotes, so that words on a sticker stay words on a sticker. */
const noteOf = (description: string): string => `[The sticker shows, as a model describes it: ${JSON.stringify(description)}]`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, longest).toWellFormed();

/** Describes a sticker the first time that anybody sends it; its file is fetched only then. What moves is known by its emoji alone, which the message has. */
export const describeSticker = async (deps: StickerDeps, sticker: SentSticker, signal: AbortSignal): Promise<DescribedSticker> => {
  const { media } = sticker;
  if (!isModelImage(media.mime)) return {};
  const key = media.uniqueId === undefined ? undefined : `sticker:${platformOf(sticker.account)}:${media.uniqueId}`;
  const known = key === undefined ? undefined : await deps.notes.find(key);
  if (known !== undefined) return { note: noteOf(known) };
  const attachment = await sticker.fetch();
  if (deps.look === undefined) return { attachment };
  try {
    const { text, model } = await deps.look({ system, prompt, attachments: [attachment] }, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
    const description = oneLine(text);
    return { note: noteOf(key === undefined ? description : await deps.notes.keep(key, { text: description, model })) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    deps.log.info({ code: error.code, reason: error.message }, 'media.sticker_not_described');
    return { attachment };
  }
};
