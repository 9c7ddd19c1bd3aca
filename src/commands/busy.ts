import { busyModes } from '../sessions/busy-mode.ts';
import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { Command } from './contract.ts';

export const busy: Command = {
  name: 'busy',
  aliases: [],
  category: 'Configuration',
  description: 'What a message does while I am working',
  args: '[interrupt|queue|steer]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const session = await findSession(tx, call.sessionId);
    const settings = session?.settings ?? {};
    const mode = busyModes.find((candidate) => candidate === call.args.toLowerCase());
    if (call.args === '' || call.args === 'status') return `While I am working, a new message is handled as \`${settings.busyMode ?? call.defaultBusyMode}\`. Change it with /busy ${busyModes.join('|')}.`;
    if (mode === undefined) return `“${call.args.slice(0, 40)}” is none of ${busyModes.join(', ')}.`;
    await changeSettings(tx, call.sessionId, { ...settings, busyMode: mode });
    return `From now on, a message that arrives while I am working is handled as \`${mode}\`.`;
  },
};
