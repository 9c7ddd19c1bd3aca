import type { Target } from '../../core/message.ts';
import { enqueueText } from '../../delivery/compose.ts';
import type { Platform } from '../../platforms/contract.ts';
import type { Writing } from '../../store/store.ts';
import type { LoadedMedia } from '../user-message.ts';

const longest = 1000;

const shown = (text: string): string => (text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);

/** Shows the chat what was understood of its voice messages, as part of the transaction that writes them into the transcript. */
export const echoTranscripts = async (tx: Writing, platform: Platform, echo: { readonly target: Target; readonly turnId: number; readonly heard: LoadedMedia['heard'] }): Promise<void> => {
  for (const [index, { inboxId, text }] of (echo.heard ?? []).entries()) {
    await enqueueText(tx, platform, { key: `heard:${inboxId}:${index}`, target: echo.target, text: `🎙️ ${shown(text.replaceAll(/\s+/g, ' '))}`, quiet: true, turnId: echo.turnId, inboxId });
  }
};
