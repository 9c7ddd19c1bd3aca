import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { Command } from './contract.ts';

export const footer: Command = {
  name: 'footer',
  aliases: [],
  category: 'Configuration',
  description: 'Put model, context and cost under answers',
  args: '[on|off|status]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const settings = (await findSession(tx, call.sessionId))?.settings ?? {};
    const { enabled, fields } = call.display.runtime_footer;
    const wanted = call.args.toLowerCase();
    if (wanted === '' || wanted === 'status') return `The line under answers is ${(settings.footer ?? enabled) ? 'on' : 'off'}. It shows ${fields.join(', ')}. Change it with /footer on or /footer off.`;
    if (wanted !== 'on' && wanted !== 'off') return 'Usage: /footer [on|off|status]';
    await changeSettings(tx, call.sessionId, { ...settings, footer: wanted === 'on' });
    return wanted === 'on' ? 'Answers in this conversation have a line with facts under them from now on.' : 'Answers in this conversation stand alone from now on.';
  },
};
