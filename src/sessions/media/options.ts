import { z } from 'zod';
import { defineSection } from '../../config/section.ts';

const sttOptions = z.strictObject({
  enabled: z.boolean().default(true).describe('Voice messages and recordings are written down before the agent reads them, by the endpoint in `auxiliary.transcription`.'),
  echo_transcripts: z.boolean().default(true).describe('The chat is shown what was understood of a voice message.'),
  language: z
    .string()
    .trim()
    .regex(/^[a-z]{2,3}$/, 'must be a code of two or three letters such as `de`')
    .optional()
    .describe('The language that is spoken, as a code such as `de`. The endpoint finds out when it is not set.'),
  max_mb: z.number().min(1).max(200).default(25).describe('Larger recordings are kept, but not written down. OpenAI takes 25.'),
});

/** What is spoken to the agent. */
export const sttSection = defineSection('stt', sttOptions.prefault({}), 'live');

export type SttOptions = z.output<typeof sttOptions>;

const ttsOptions = z.strictObject({
  voice: z.string().trim().min(1).default('alloy').describe('The voice in which answers are spoken, as the endpoint in `auxiliary.speech` calls it.'),
  format: z.enum(['opus', 'mp3', 'aac', 'flac', 'wav']).default('opus').describe('What the endpoint is asked for. Messengers show `opus` and `mp3` as voice messages.'),
  speed: z.number().min(0.25).max(4).optional().describe('How fast it is spoken; 1 is the usual speed. The endpoint decides when it is not set.'),
  max_chars: z.int().min(100).max(4000).default(4000).describe('Of a longer answer only the beginning is spoken.'),
});

/** How the agent sounds. */
export const ttsSection = defineSection('tts', ttsOptions.prefault({}), 'live');

export type TtsOptions = z.output<typeof ttsOptions>;

const voiceOptions = z.strictObject({
  auto_tts: z.boolean().default(true).describe('Whoever speaks to the agent also hears its answer, where `auxiliary.speech` names an endpoint. /voice changes it for a conversation.'),
});

/** When the agent speaks. */
export const voiceSection = defineSection('voice', voiceOptions.prefault({}), 'live');

export type VoiceOptions = z.output<typeof voiceOptions>;
