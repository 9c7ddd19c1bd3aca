import { replyTarget } from '../core/message.ts';
import { withoutAnchor } from '../delivery/compose.ts';
import { markRestart } from '../store/messages/restart-marks.ts';
import { runningTurns } from '../store/sessions/turns.ts';
import type { Command } from './contract.ts';

export const restart: Command = {
  name: 'restart',
  aliases: [],
  category: 'Configuration',
  description: 'Restart the gateway',
  role: 'admin',
  whileRunning: 'allowed',
  confirm: async (_tx, call) => (call.reach.restart === undefined ? undefined : 'Restart the gateway? Running answers get a moment to end; what is left goes on afterwards.'),
  async run(tx, call) {
    const { restart: again } = call.reach;
    if (again === undefined) return 'Nobody would start this gateway again: a terminal hosts it. Leave the terminal and open it again, or run `hermes gateway run`.';
    await markRestart(tx, { inboxId: call.inboxId, target: withoutAnchor(replyTarget(call.event)) });
    call.after(async () => {
      again(`/restart by ${call.event.sender.id} in ${call.event.account}:${call.event.chat.id}`);
      return '';
    });
    const running = await runningTurns(tx);
    return `🔄 Restarting${running === 0 ? '' : `; ${running === 1 ? 'one answer is' : `${running} answers are`} being finished first`}. I say so here when I am back.`;
  },
};
