import { replyTarget } from '../core/message.ts';
import { withoutAnchor } from '../delivery/compose.ts';
import { removeHome, setHome as keepHome } from '../store/sessions/homes.ts';
import type { Command } from './contract.ts';

export const setHome: Command = {
  name: 'sethome',
  aliases: ['set-home'],
  category: 'Configuration',
  description: 'Make this chat the one that gets what nobody asked for',
  args: '[off]',
  role: 'admin',
  surfaces: ['chat', 'page'],
  whileRunning: 'allowed',
  async run(tx, call) {
    const { event } = call;
    const wanted = call.args.toLowerCase();
    if (wanted === 'off') return (await removeHome(tx, event.account)) ? `The home chat of ${event.account} is what the configuration says again.` : `No home chat of ${event.account} was set by /sethome.`;
    if (wanted !== '') return 'Usage: /sethome [off]';
    await keepHome(tx, { account: event.account, target: withoutAnchor(replyTarget(event)), name: event.chat.name ?? null, setBy: event.sender.id });
    return `🏠 Results of scheduled jobs and notices of ${event.account} come here from now on. /sethome off takes that back.`;
  },
};
