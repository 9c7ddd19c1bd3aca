import { imageLimits, isModelImage, readImage } from '../../agent/models/media/load-images.ts';
import type { Attachment } from '../../core/transcript.ts';
import { fileWords, sizeWords } from './file-words.ts';

/** An SVG is a text to be read. */
export const isPicture = (mime: string): boolean => mime.startsWith('image/') && mime !== 'image/svg+xml';

/** What is to be said of an image that no model can be shown; undefined for every other file. */
export const unseenImage = async (folder: string, attachment: Attachment): Promise<string | undefined> => {
  if (!isPicture(attachment.mime)) return undefined;
  const what = fileWords(attachment);
  if (!isModelImage(attachment.mime)) return `[Models cannot look at the ${what}: its format is ${attachment.mime}.]`;
  const image = await readImage(folder, attachment.path);
  if (typeof image !== 'string') return undefined;
  return image === 'too_large' ? `[The ${what} is too large to look at: a model is shown ${sizeWords(imageLimits.eachBytes)} at most.]` : `[The ${what} cannot be looked at: the file is broken.]`;
};
