import { laneFacts } from '../store/lanes/lanes.ts';
import { countWaiting } from '../store/messages/inbox.ts';
import { findSession } from '../store/sessions/sessions.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import type { Command } from './contract.ts';

export const status: Command = {
  name: 'status',
  aliases: [],
  category: 'Session',
  description: 'Show what this conversation is doing',
  whileRunning: 'allowed',
  async run(tx, call) {
    const session = await findSession(tx, call.sessionId);
    const { running } = await laneFacts(tx, call.lane);
    const turn = await unfinishedTurn(tx, call.lane);
    const waiting = await countWaiting(tx, call.lane);
    const state = running ? `working${turn === undefined ? '' : ` (turn ${turn.id}${turn.attempts > 1 ? `, attempt ${turn.attempts}` : ''})`}` : 'idle';
    return [
      `**Session** \`${call.sessionId}\`${session?.title == null ? '' : ` “${session.title}”`}`,
      `**State** ${state}`,
      `**Waiting** ${waiting}`,
      `**Messages** ${session?.messageCount ?? 0}, turns ${session?.turnCount ?? 0}`,
      `**Tokens** ${session?.usage.inputTokens ?? 0} in, ${session?.usage.outputTokens ?? 0} out`,
      `**Model** ${session?.settings.model ?? session?.model ?? 'not used yet'}`,
      `**While busy** ${session?.settings.busyMode ?? call.defaultBusyMode}`,
    ].join('\n');
  },
};
