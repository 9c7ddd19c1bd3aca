import { allowingValue, onlyAdminsAlways } from '../agent/approvals/approval-question.ts';
import { questionId } from '../store/agents/questions.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';
import { chosenApprovals, codeOf, decide, headline, openApprovals } from './open-approvals.ts';

const usage = 'Usage: /approve [all] [once|session|always] [#code]';

const reaches = ['once', 'session', 'always'] as const;
type Reach = (typeof reaches)[number];

const outcomes: Readonly<Record<Reach, string>> = { once: 'Allowed once', session: 'Allowed for this session', always: 'Always allowed' };

interface Wish {
  readonly all: boolean;
  readonly reach: Reach;
  readonly code: string | undefined;
}

/** Undefined for words that mean nothing. The longest reach that is named counts. */
const readWish = (args: string): Wish | undefined => {
  const words = args.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const named = reaches.filter((reach) => words.includes(reach));
  const others = words.filter((word) => word !== 'all' && !named.some((reach) => reach === word));
  const [code] = others.map((word) => word.replace(/^#/, ''));
  if (others.length > 1 || (code !== undefined && questionId(code) === undefined)) return undefined;
  return { all: words.includes('all'), reach: named.at(-1) ?? 'once', code };
};

const allow = async (tx: Writing, call: CommandCall, given: { question: StoredQuestion; reach: Reach }): Promise<string> => {
  const { question, reach } = given;
  const shown = `\`${headline(question).replaceAll('`', "'")}\` (\`${codeOf(question)}\`)`;
  const value = allowingValue(question.question, reach);
  if (value === undefined) return `⚠️ ${shown} cannot be allowed for so long. Nobody can see beforehand what it does: /approve once.`;
  return (await decide(tx, call, { question, value, outcome: outcomes[reach] })) ? `✅ ${outcomes[reach]}: ${shown}` : `${shown} is settled already.`;
};

export const approve: Command = {
  name: 'approve',
  aliases: [],
  category: 'Session',
  description: 'Allow what I have asked about',
  args: '[all] [once|session|always] [#code]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const wish = readWish(call.args);
    if (wish === undefined) return usage;
    if (wish.reach === 'always' && !call.access.mayAdminister) return `⛔ ${onlyAdminsAlways}`;
    const chosen = chosenApprovals(await openApprovals(tx, call), wish);
    if (typeof chosen === 'string') return chosen;
    const said: string[] = [];
    for (const question of chosen) said.push(await allow(tx, call, { question, reach: wish.reach }));
    return said.join('\n');
  },
};
