import { approveCode, invite, pairingRules } from '../access/pairing.ts';
import { listPaired, pendingPairings, unpair } from '../store/pairing.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

const usage = 'Usage: /pair makes a code for somebody; /pair approve CODE lets in who showed you theirs; /pair list; /pair revoke ID';

const named = (person: { readonly userId: string; readonly userName: string | null }): string => `\`${person.userId}\`${person.userName === null ? '' : ` ${person.userName}`}`;

const makeInvitation = async (tx: Writing, call: CommandCall): Promise<string> => {
  const { account, sender } = call.event;
  const code = await invite(tx, { account, userId: sender.id, userName: sender.name ?? null });
  return `Code: \`${code}\`\nWhoever sends it to me in a direct message on ${account} within an hour is let in. It works once.`;
};

const approve = async (tx: Writing, call: CommandCall, text: string): Promise<string> => {
  const approval = await approveCode(tx, { account: call.event.account, text, approvedBy: call.event.sender.id });
  switch (approval.type) {
    case 'approved':
      return `✅ ${named(approval.person)} may talk to me on ${approval.person.account} now.`;
    case 'unknown':
      return 'No open request has that code.';
    case 'locked':
      return `⛔ There were too many wrong codes. Try again in ${Math.ceil(approval.forMs / 60_000)} minutes, or use hermes pairing on the machine.`;
    default:
      throw approval satisfies never;
  }
};

const list = async (tx: Writing, account: string): Promise<string> => {
  const pending = await pendingPairings(tx, { account, kind: 'request', lifeMs: pairingRules.lifeMs });
  const paired = (await listPaired(tx)).filter((person) => person.account === account);
  return [
    pending.length === 0 ? 'Nobody is asking to be let in.' : `Asking to be let in:\n${pending.map((request) => `- ${named(request)}`).join('\n')}`,
    paired.length === 0 ? 'Nobody was let in by a code.' : `Let in by a code:\n${paired.map((person) => `- ${named(person)}`).join('\n')}`,
  ].join('\n\n');
};

export const pair: Command = {
  name: 'pair',
  aliases: [],
  category: 'Configuration',
  description: 'Let somebody in',
  args: '[approve CODE | list | revoke ID]',
  whileRunning: 'allowed',
  async run(tx, call) {
    if (!call.access.mayPair) return '⛔ Only admins may let others in.';
    const [verb = '', ...rest] = call.args.split(/\s+/);
    const subject = rest.join(' ');
    switch (verb.toLowerCase()) {
      case '':
        return makeInvitation(tx, call);
      case 'approve':
        return subject === '' ? usage : approve(tx, call, subject);
      case 'list':
        return list(tx, call.event.account);
      case 'revoke':
        if (subject === '') return usage;
        return (await unpair(tx, call.event.account, subject)) ? `\`${subject}\` may not talk to me any more, unless a list in the configuration says so.` : `\`${subject}\` was not let in by a code.`;
      default:
        return usage;
    }
  },
  secretAnswer: true,
};
