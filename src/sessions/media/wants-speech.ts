import type { InboundEvent, Target } from '../../core/message.ts';
import { isSilentReply } from '../../delivery/silence.ts';
import { planSpeech } from '../../store/agents/speech-work.ts';
import type { SessionSettings } from '../../store/sessions/sessions.ts';
import type { Writing } from '../../store/store.ts';
import type { VoiceOptions } from './options.ts';

/** Which answers of a conversation are spoken as well: none, those to spoken messages, or all. */
export const voiceModes = ['off', 'voice_only', 'all'] as const;

export type VoiceMode = (typeof voiceModes)[number];

export const voiceModeOf = (settings: SessionSettings, options: VoiceOptions): VoiceMode => settings.voice ?? (options.auto_tts ? 'voice_only' : 'off');

/** Whether the answer to a message is spoken as well. A recording that somebody sends as a file is not said to us. */
export const wantsSpeech = (mode: VoiceMode, event: Pick<InboundEvent, 'media'> | undefined): boolean => {
  switch (mode) {
    case 'off':
      return false;
    case 'voice_only':
      return event?.media.some(({ kind }) => kind === 'voice') === true;
    case 'all':
      return event !== undefined;
    default:
      throw mode satisfies never;
  }
};

/** Has an answer spoken, as part of the transaction that commits it. An answer that says nothing stays silent. */
export const planSpokenAnswer = async (tx: Writing, answer: { readonly turnId: number; readonly sessionId: string; readonly agent: string; readonly target: Target; readonly text: string }): Promise<void> => {
  if (answer.text.trim() !== '' && !isSilentReply(answer.text)) await planSpeech(tx, answer);
};
