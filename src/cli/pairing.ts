import { Command } from 'commander';
import { approveCode, pairingRules } from '../access/pairing.ts';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { printable } from '../lib/printable.ts';
import { listPaired, pendingPairings, removePending, unpair } from '../store/accounts/pairing.ts';
import { json, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore, withStore } from './home/open-home.ts';
import { noteAct } from './note-act.ts';

const list = (terminal: Terminal, flags: { json?: true }): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const open = await store.read((db) => pendingPairings(db, { lifeMs: pairingRules.lifeMs }));
    const pending = open.map(({ id, account, kind, userId, userName, ageMs }) => ({ id, account, kind, userId, userName, ageMs }));
    const paired = await store.read(listPaired);
    if (flags.json === true) {
      terminal.write(json({ pending, paired }));
      return;
    }
    const waiting = pending.map((one) => [one.account, one.kind === 'request' ? 'asks' : 'invited by', one.userId, one.userName ?? '', `${span(one.ageMs)} ago`]);
    const inside = paired.map((person) => [person.account, person.userId, person.userName ?? '', `by ${person.approvedBy}, ${span(Date.now() - person.approvedAtMs)} ago`]);
    terminal.write(`${waiting.length === 0 ? 'Nobody is asking to be let in.' : table(waiting)}\n\n${inside.length === 0 ? 'Nobody was let in by a code.' : table(inside)}\n`);
  });

const approve = (terminal: Terminal, account: string, code: string): Promise<void> =>
  withStore(terminal, async (store) => {
    const approval = await store.write((tx) => approveCode(tx, { account, text: code, approvedBy: 'cli' }));
    if (approval.type === 'unknown' && approval.locks === true) noteAct(resolveHome(terminal.env), 'pairing locked', `${account}: too many wrong codes`);
    if (approval.type === 'unknown') throw new ConfigError(`No open request on ${account} has that code. hermes pairing list shows who is asking.`);
    if (approval.type === 'locked') throw new ConfigError(`There were too many wrong codes for ${account}. Try again in ${Math.ceil(approval.forMs / 60_000)} minutes, or add the id to its allowed_users.`);
    terminal.write(`${printable(approval.person.userName ?? approval.person.userId)} (${approval.person.userId}) may talk to the agent on ${account} now.\n`);
  });

const revoke = (terminal: Terminal, account: string, userId: string): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    if (!(await store.write((tx) => unpair(tx, account, userId)))) throw new ConfigError(`${userId} was not let in by a code on ${account}.`);
    terminal.write(`${userId} may not talk to the agent on ${account} any more, unless a list in the configuration says so.\n`);
  });

const clearPending = (terminal: Terminal): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const open = await store.read((db) => pendingPairings(db, { lifeMs: pairingRules.lifeMs }));
    await store.write((tx) => removePending(tx, open.map(({ id }) => id)));
    terminal.write(`${open.length} removed.\n`);
  });

export const pairingCommand = (terminal: Terminal): Command => {
  const command = new Command('pairing').description('See and decide who is let in by a code').addHelpText('after', '\nExamples:\n  hermes pairing list\n  hermes pairing approve telegram ABCD2345\n  hermes pairing revoke telegram 1001');
  command.command('list').description('Who asks to be let in, and who was').option('--json', 'print JSON').action((flags: { json?: true }) => list(terminal, flags));
  command.command('approve').description('Let in whoever was given this code').argument('<account>', 'such as telegram').argument('<code>').action((account: string, code: string) => approve(terminal, account, code));
  command.command('revoke').description('Take back what a code gave').argument('<account>').argument('<user>', 'id').action((account: string, user: string) => revoke(terminal, account, user));
  command.command('clear-pending').description('Forget all open codes').action(() => clearPending(terminal));
  return command;
};
