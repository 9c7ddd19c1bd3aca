import { imageLimits, isModelImage } from '../../agent/models/load-images.ts';
import { sizeWords, fileWords } from './file-words.ts';
import type { MediaRef } from '../../core/message.ts';

/** What is to be said of an image that no model will be shown; undefined for every other file. */
export const unseenImage = (media: MediaRef, sizeBytes: number): string | undefined => {
  if (!media.mime.startsWith('image/')) return undefined;
  if (!isModelImage(media.mime)) return `[Models cannot look at the ${fileWords(media)}: its format is ${media.mime}.]`;
  if (sizeBytes <= imageLimits.eachBytes) return undefined;
  return `[The ${fileWords(media)} is too large to look at: it has ${sizeWords(sizeBytes)}, and a model is shown ${sizeWords(imageLimits.eachBytes)} at most.]`;
};
