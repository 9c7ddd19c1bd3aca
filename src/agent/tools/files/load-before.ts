import { ToolError } from '../contract.ts';
import type { Before } from './apply-changes.ts';
import { binaryKind, binaryRefusal } from './binary-kind.ts';
import type { FileAccess, Place } from './file-access.ts';
import { decodeText } from './text-codec.ts';
import type { DecodedText } from './text-codec.ts';

/** Largest file that is changed in place or kept to be put back. */
export const maxEditedBytes = 10 * 1024 * 1024;

export interface Loaded {
  /** With the verdict on what really lies there. */
  readonly place: Place;
  readonly before: Before;
  /** Nothing when it is too large or no text. */
  readonly decoded: DecodedText | undefined;
}

/** A file that is there, as it is now. */
export const loadBefore = async (access: FileAccess, place: Place): Promise<Loaded> => {
  const { handle, stats, permission } = await access.open(place);
  try {
    const bytes = stats.size <= maxEditedBytes ? await handle.readFile() : undefined;
    const decoded = bytes === undefined || binaryKind(bytes) !== undefined ? undefined : decodeText(bytes);
    return { place: { ...place, permission }, before: { stats, bytes, text: decoded?.text }, decoded };
  } finally {
    await handle.close();
  }
};

/** The same, for a change inside the text. */
export const loadText = async (access: FileAccess, place: Place): Promise<Loaded & { readonly decoded: DecodedText }> => {
  const loaded = await loadBefore(access, place);
  const { bytes } = loaded.before;
  if (bytes === undefined) throw new ToolError('failed', `${place.shown} has more than ${maxEditedBytes / 1024 / 1024} MB; that is too large to be changed here.`);
  if (loaded.decoded === undefined) {
    const kind = binaryKind(bytes);
    throw new ToolError('failed', kind === undefined ? `${place.shown} is not UTF-8 text; changing it here would damage it.` : binaryRefusal(kind, place.shown));
  }
  return { ...loaded, decoded: loaded.decoded };
};
