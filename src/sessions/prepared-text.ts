import { splitMedia } from '../delivery/media-directives.ts';
import type { Prepared } from '../delivery/prepare-text.ts';
import type { BegunTurn } from './begin.ts';
import type { TurnParts } from './turn-parts.ts';

/** A text of the agent as it goes out, with its files, to the chat of the turn unless another account is named. Whoever is told to halt does not wait for files: then only the words are shown. */
export const preparedText = async (parts: TurnParts, begun: BegunTurn, said: { readonly text: string; readonly account?: string; readonly halt: AbortSignal }): Promise<Prepared> => {
  const { text, account = begun.turn.target.account, halt } = said;
  try {
    if (!halt.aborted) return await parts.prepare(begun, { text, account }, halt);
  } catch (error) {
    if (!halt.aborted) throw error;
  }
  return { text: splitMedia(text).text };
};
