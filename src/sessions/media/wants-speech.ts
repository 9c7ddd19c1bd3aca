import type { InboundEvent } from '../../core/message.ts';
import type { SessionSettings } from '../../store/sessions.ts';
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
