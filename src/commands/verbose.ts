import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { Command } from './contract.ts';

const modes = ['off', 'new', 'all', 'verbose'] as const;
type Mode = (typeof modes)[number];

const meanings: Readonly<Record<Mode, string>> = {
  off: 'nothing is shown of the tools at work',
  new: 'a line is shown when I turn to another tool',
  all: 'every tool call is shown',
  verbose: 'every tool call is shown with its arguments',
};

/** What only the log gets is nothing to people. */
const next = (mode: string): Mode => modes[(Math.max(0, modes.findIndex((known) => known === mode)) + 1) % modes.length] ?? 'off';

export const verbose: Command = {
  name: 'verbose',
  aliases: [],
  category: 'Configuration',
  description: 'Show more or less of the tools at work',
  args: `[${modes.join('|')}]`,
  gate: { setting: 'display.tool_progress_command: true', isOpen: (settings, surface) => surface !== 'chat' || settings.display.tool_progress_command },
  whileRunning: 'allowed',
  async run(tx, call) {
    const settings = (await findSession(tx, call.sessionId))?.settings ?? {};
    const named = modes.find((mode) => mode === call.args.toLowerCase());
    if (named === undefined && call.args !== '') return `“${call.args.slice(0, 40)}” is none of ${modes.join(', ')}.`;
    const mode = named ?? next(settings.toolProgress ?? call.display.tool_progress);
    await changeSettings(tx, call.sessionId, { ...settings, toolProgress: mode });
    return `\`${mode}\`: ${meanings[mode]} in this conversation from now on.`;
  },
};
