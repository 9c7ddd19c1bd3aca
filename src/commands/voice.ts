import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import { lastSpeechFailure } from '../store/agents/speech-work.ts';
import type { VoiceMode } from '../sessions/media/wants-speech.ts';
import type { Command } from './contract.ts';
import type { VoiceReach } from './reach.ts';

const words: Readonly<Record<string, VoiceMode>> = { on: 'voice_only', voice_only: 'voice_only', tts: 'all', all: 'all', off: 'off' };

const meanings: Readonly<Record<VoiceMode, string>> = {
  off: 'I answer in writing only',
  voice_only: 'who speaks to me also hears my answer',
  all: 'every answer is spoken as well',
};

const usage = 'Change it with /voice on (I speak when you speak), /voice tts (I always speak) or /voice off.';

const hearing = ({ hears }: VoiceReach): string =>
  hears ? 'Voice messages are written down before I read them.' : 'I cannot listen to voice messages: the owner has to name an endpoint in `auxiliary.transcription`.';

export const voice: Command = {
  name: 'voice',
  aliases: [],
  category: 'Configuration',
  description: 'Have my answers spoken',
  args: '[on|off|tts|status]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const reach = call.reach.voice?.(call.agent);
    if (reach === undefined) return 'Answers cannot be spoken here.';
    const settings = (await findSession(tx, call.sessionId))?.settings ?? {};
    const wanted = call.args.toLowerCase();
    if (wanted === '' || wanted === 'status') {
      const failure = await lastSpeechFailure(tx, call.sessionId);
      const speaking = reach.speaks ? `In this conversation ${meanings[settings.voice ?? reach.usual]}.` : 'I cannot speak: the owner has to name an endpoint in `auxiliary.speech`.';
      return [speaking, hearing(reach), ...(failure === undefined ? [] : [`⚠️ An answer was not spoken because ${failure}.`]), usage].join('\n');
    }
    const mode = Object.hasOwn(words, wanted) ? words[wanted] : undefined;
    if (mode === undefined) return `“${call.args.slice(0, 40)}” is none of on, off, tts and status.`;
    if (mode !== 'off' && !reach.speaks) return 'I cannot speak: the owner has to name an endpoint in `auxiliary.speech`.';
    if (mode !== 'off' && !call.reach.sendsFiles(call.event.account)) return 'Voice messages cannot be sent here.';
    await changeSettings(tx, call.sessionId, { ...settings, voice: mode });
    return `🔊 From now on, ${meanings[mode]} in this conversation.`;
  },
};
