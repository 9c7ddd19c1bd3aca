import { skillCommands } from '../agent/tools/skills/skill-commands.ts';
import type { Skill } from '../agent/tools/skills/load-skills.ts';
import { countWaiting } from '../store/messages/inbox.ts';
import type { Command } from './contract.ts';
import { enqueueFollowUp } from './follow-up.ts';

/** Every skill as a command: what it says, and what the person wants with it, become a message of theirs. */
export const commandsOfSkills = (skills: readonly Skill[]): readonly Command[] =>
  skillCommands(skills).map(({ name, description, expand }) => ({
    name,
    aliases: [],
    category: 'Tools',
    description,
    args: '[what for]',
    whileRunning: 'allowed',
    async run(tx, call) {
      const before = await countWaiting(tx, call.lane);
      if (before >= call.queueLimit) return `⛔ ${before} of your messages are already waiting, so I did not take this one. Please send it again later, or /stop.`;
      const { running, count } = await enqueueFollowUp(tx, call, { text: expand(call.args), mark: 'skill' });
      return running ? `⏳ Queued, ${count} waiting.` : '';
    },
  }));
