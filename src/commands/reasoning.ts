import { reasoningEfforts } from '../core/reasoning-effort.ts';
import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { SessionSettings } from '../store/sessions/sessions.ts';
import type { Command, CommandCall } from './contract.ts';

const levels = reasoningEfforts.join('|');

const status = (settings: SessionSettings, call: CommandCall): string => {
  const shown = settings.showReasoning ?? call.display.show_reasoning;
  const effort = settings.reasoningEffort === undefined ? 'as the model is set up' : `\`${settings.reasoningEffort}\` in this conversation`;
  const full = settings.fullReasoning ?? call.display.reasoning_full;
  return [`**Thinking** ${effort}, and ${shown ? `shown ${full ? 'in full ' : ''}above` : 'not shown with'} answers.`, `Change it with /reasoning ${levels}, go back with /reasoning default, and see it or not with /reasoning show|hide, all of it or the beginning with /reasoning full|clamp.`].join('\n');
};

export const reasoning: Command = {
  name: 'reasoning',
  aliases: [],
  category: 'Configuration',
  description: 'How much the model thinks, and whether it is shown',
  args: `[${levels}|default|show|hide|full|clamp]`,
  whileRunning: 'refused',
  async run(tx, call) {
    const settings = (await findSession(tx, call.sessionId))?.settings ?? {};
    const word = call.args.toLowerCase();
    if (word === '' || word === 'status') return status(settings, call);
    if (word === 'show' || word === 'hide') {
      await changeSettings(tx, call.sessionId, { ...settings, showReasoning: word === 'show' });
      return word === 'show' ? '💭 What the model thinks stands above its answers from now on, where the model says it.' : '💭 What the model thinks is not shown any more.';
    }
    if (word === 'full' || word === 'clamp') {
      await changeSettings(tx, call.sessionId, { ...settings, fullReasoning: word === 'full', ...(word === 'full' && { showReasoning: true }) });
      return word === 'full' ? '💭 All that the model thinks stands above its answers from now on, where the model says it.' : '💭 Of what the model thinks only the beginning is shown.';
    }
    const { reasoningEffort: _before, ...rest } = settings;
    if (word === 'default') {
      await changeSettings(tx, call.sessionId, rest);
      return '💭 The model thinks as much as it is set up to.';
    }
    const effort = reasoningEfforts.find((level) => level === word);
    if (effort === undefined) return `“${call.args.slice(0, 40)}” is none of ${reasoningEfforts.join(', ')}, default, show, hide, full, clamp.`;
    await changeSettings(tx, call.sessionId, { ...rest, reasoningEffort: effort });
    return `💭 Thinking is set to \`${effort}\` in this conversation. A model that knows fewer levels takes the nearest.`;
  },
};
