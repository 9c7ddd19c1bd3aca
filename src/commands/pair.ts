import { anyAccount, approveCode, invite, pairingRules } from '../access/pairing.ts';
import { listPaired, pendingPairings, unpair } from '../store/accounts/pairing.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

const usage = 'Usage: /pair makes a code for somebody; /pair approve CODE lets in who showed you theirs; /pair list; /pair revoke ID';

interface Named {
  readonly account: string;
  readonly userId: string;
  readonly userName: string | null;
}

const named = (person: Named): string => `\`${person.userId}\`${person.userName === null ? '' : ` ${person.userName}`} (${person.account})`;

const makeInvitation = async (tx: Writing, call: CommandCall): Promise<string> => {
  const { sender } = call.event;
  const account = call.access.isOwner ? anyAccount : call.event.account;
  const code = await invite(tx, { account, userId: sender.id, userName: sender.name ?? null });
  call.acted({ act: '/pair', subject: account === anyAccount ? 'an invitation for any account' : `an invitation for ${account}` });
  return `Code: \`${code}\`\nWhoever sends it to me in a direct message${account === anyAccount ? '' : ` on ${account}`} within an hour is let in. It works once.`;
};

const approve = async (tx: Writing, call: CommandCall, text: string): Promise<string> => {
  const approval = await approveCode(tx, { account: call.event.account, text, approvedBy: call.event.sender.id, everywhere: call.access.isOwner });
  switch (approval.type) {
    case 'approved':
      call.acted({ act: '/pair approve', subject: `${approval.person.account} ${approval.person.userId}` });
      return `✅ ${named(approval.person)} may talk to me now.`;
    case 'unknown':
      if (approval.locks === true) call.acted({ act: 'pairing locked', subject: `${call.event.account}: too many wrong codes` });
      return 'No open request has that code.';
    case 'locked':
      return `⛔ There were too many wrong codes. Try again in ${Math.ceil(approval.forMs / 60_000)} minutes, or use hermes pairing on the machine.`;
    default:
      throw approval satisfies never;
  }
};

const list = async (tx: Writing, call: CommandCall): Promise<string> => {
  const { isOwner } = call.access;
  const { account } = call.event;
  const pending = await pendingPairings(tx, { ...(!isOwner && { account }), kind: 'request', lifeMs: pairingRules.lifeMs });
  const paired = (await listPaired(tx)).filter((person) => isOwner || person.account === account);
  return [
    pending.length === 0 ? 'Nobody is asking to be let in.' : `Asking to be let in:\n${pending.map((request) => `- ${named(request)}`).join('\n')}`,
    paired.length === 0 ? 'Nobody was let in by a code.' : `Let in by a code:\n${paired.map((person) => `- ${named(person)}`).join('\n')}`,
  ].join('\n\n');
};

const revoke = async (tx: Writing, call: CommandCall, userId: string): Promise<string> => {
  const paired = (await listPaired(tx)).filter((person) => person.userId === userId && (call.access.isOwner || person.account === call.event.account));
  for (const { account } of paired) {
    await unpair(tx, account, userId);
    call.acted({ act: '/pair revoke', subject: `${account} ${userId}` });
  }
  if (paired.length === 0) return `\`${userId}\` was not let in by a code.`;
  return `\`${userId}\` may not talk to me any more, unless a list in the configuration says so.`;
};

export const pair: Command = {
  name: 'pair',
  aliases: [],
  category: 'Configuration',
  description: 'Let somebody in',
  role: 'admin',
  notesItself: true,
  args: '[approve CODE | list | revoke ID]',
  whileRunning: 'allowed',
  async run(tx, call) {
    if (!call.access.mayAdminister) return '⛔ Only admins may let others in.';
    const [verb = '', ...rest] = call.args.split(/\s+/);
    const subject = rest.join(' ');
    switch (verb.toLowerCase()) {
      case '':
        return makeInvitation(tx, call);
      case 'approve':
        return subject === '' ? usage : approve(tx, call, subject);
      case 'list':
        return list(tx, call);
      case 'revoke':
        return subject === '' ? usage : revoke(tx, call, subject);
      default:
        return usage;
    }
  },
  secretAnswer: true,
};
