import { everything, grantsOf, revokeGrants } from '../store/agents/grants.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';
import { codeOf, headline, openApprovals } from './open-approvals.ts';

const usage = 'Usage: /approvals shows everything; /approvals revoke <kind>|all takes back what was allowed';

const modes: Readonly<Record<CommandCall['settings']['approvals']['mode'], string>> = {
  manual: 'a person is asked',
  smart: 'a model decides what is clear, a person the rest',
  off: 'nobody is asked',
};

const quoted = (items: readonly string[]): string => items.map((item) => `\`${item}\``).join(', ');

const show = async (tx: Writing, call: CommandCall): Promise<string> => {
  const { approvals, command_allowlist } = call.settings;
  const grants = (await grantsOf(tx, call.sessionId)).map((grant) => grant.pattern);
  const { all } = await openApprovals(tx, call);
  const kinds = grants.filter((pattern) => pattern !== everything);
  return [
    `**Mode** ${approvals.mode}: ${modes[approvals.mode]} before something that may do harm`,
    ...(grants.includes(everything) ? ['⚠️ **In this conversation nobody is asked** (/yolo off ends that)'] : []),
    `**Allowed in this conversation** ${kinds.length === 0 ? 'nothing' : quoted(kinds)}`,
    `**Always allowed** ${command_allowlist.length === 0 ? 'nothing' : quoted(command_allowlist)}`,
    ...(approvals.deny.length === 0 ? [] : [`**Never run** ${quoted(approvals.deny)}`]),
    all.length === 0 ? '**Waiting** nothing' : `**Waiting**\n${all.map((question) => `- \`${codeOf(question)}\` \`${headline(question).replaceAll('`', "'")}\`, ${Math.max(1, Math.round(question.leftMs / 1000))} seconds left`).join('\n')}`,
    'Allow or refuse with /approve and /deny.',
  ].join('\n');
};

/** What was allowed for good stands in config.yaml, and only admins change that. */
const forgetAlways = (call: CommandCall, patterns: readonly string[]): string => {
  const { changeSetting } = call.reach;
  if (!call.access.mayAdminister) return '⛔ What is always allowed is for admins to change.';
  if (changeSetting === undefined) return 'This gateway cannot write its configuration. Take it out of `command_allowlist` there.';
  const left = call.settings.command_allowlist.filter((pattern) => !patterns.includes(pattern));
  call.after(async () => {
    const problem = await changeSetting('command_allowlist', JSON.stringify(left));
    return problem === undefined ? `I will ask again about ${quoted(patterns)}.` : `⚠️ That was not written: ${problem}`;
  });
  return '';
};

const revoke = async (tx: Writing, call: CommandCall, subject: string): Promise<string> => {
  const listed = call.settings.command_allowlist;
  if (subject === 'all') {
    const count = await revokeGrants(tx, call.sessionId);
    const kept = listed.length === 0 ? '' : ` ${quoted(listed)} is always allowed; take that back one by one.`;
    return `${count === 0 ? 'Nothing was allowed in this conversation.' : 'I will ask again about everything that was allowed in this conversation.'}${kept}`;
  }
  const count = await revokeGrants(tx, call.sessionId, [subject]);
  if (listed.includes(subject)) return forgetAlways(call, [subject]);
  return count === 0 ? `\`${subject.slice(0, 100)}\` is not allowed here. /approvals shows what is.` : `I will ask again about \`${subject}\`.`;
};

export const approvals: Command = {
  name: 'approvals',
  aliases: [],
  category: 'Configuration',
  description: 'What I may do without asking, and what waits for an answer',
  args: '[revoke <kind>|all]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const [verb = '', ...rest] = call.args.split(/\s+/);
    if (verb === '') return show(tx, call);
    const subject = rest.join(' ').replaceAll('`', '');
    return verb.toLowerCase() === 'revoke' && subject !== '' ? revoke(tx, call, subject) : usage;
  },
};
