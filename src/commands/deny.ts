import { denialValue } from '../agent/approvals/approval-question.ts';
import { questionCode } from '../store/agents/questions.ts';
import type { Command } from './contract.ts';
import { chosenApprovals, codeOf, decide, headline, openApprovals } from './open-approvals.ts';
import type { OpenApprovals } from './open-approvals.ts';

const maxReasonChars = 280;

interface Wish {
  readonly all: boolean;
  readonly code: string | undefined;
  readonly reason: string;
}

/** `all` or the code of an open question may stand first; everything else is the reason. */
const readWish = (args: string, open: OpenApprovals): Wish => {
  const [first = '', ...rest] = args.split(/\s+/);
  const code = first.replace(/^#/, '').toLowerCase();
  const reason = rest.join(' ').slice(0, maxReasonChars);
  if (first.toLowerCase() === 'all') return { all: true, code: undefined, reason };
  if (first.startsWith('#') || open.all.some((question) => questionCode(question.id) === code)) return { all: false, code, reason };
  return { all: false, code: undefined, reason: args.slice(0, maxReasonChars) };
};

export const deny: Command = {
  name: 'deny',
  aliases: [],
  category: 'Session',
  description: 'Refuse what I have asked about',
  args: '[all | #code] [reason]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const open = await openApprovals(tx, call);
    const wish = readWish(call.args.trim(), open);
    const chosen = chosenApprovals(open, wish);
    if (typeof chosen === 'string') return chosen;
    const said: string[] = [];
    for (const question of chosen) {
      const shown = `\`${headline(question).replaceAll('`', "'")}\` (\`${codeOf(question)}\`)`;
      said.push((await decide(tx, call, { question, value: denialValue(wish.reason), outcome: 'Denied' })) ? `⛔ Denied: ${shown}` : `${shown} is settled already.`);
    }
    return said.join('\n');
  },
};
