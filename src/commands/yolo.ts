import { everything, grantPatterns, grantsOf, revokeGrants } from '../store/agents/grants.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

const isOn = async (tx: Writing, call: CommandCall): Promise<boolean> => (await grantsOf(tx, call.sessionId)).some((grant) => grant.pattern === everything);

/** What a person wants; without a word, the opposite of what is. */
const wanted = async (tx: Writing, call: CommandCall): Promise<'on' | 'off' | 'status' | undefined> => {
  const word = call.args.toLowerCase();
  if (word === '') return (await isOn(tx, call)) ? 'off' : 'on';
  return word === 'on' || word === 'off' || word === 'status' ? word : undefined;
};

export const yolo: Command = {
  name: 'yolo',
  aliases: [],
  category: 'Configuration',
  description: 'Let me do everything in this conversation without asking',
  args: '[on|off|status]',
  role: 'admin',
  whileRunning: 'allowed',
  confirm: async (tx, call) =>
    (await wanted(tx, call)) === 'on' && !(await isOn(tx, call)) ? '⚠️ **Nobody would be asked any more in this conversation**, whatever I run: deleting, publishing, changing the machine. Only what is never run stays that way. Everybody who writes here could make use of it. Go on?' : undefined,
  async run(tx, call) {
    switch (await wanted(tx, call)) {
      case 'on':
        await grantPatterns(tx, call.sessionId, [{ pattern: everything, grantedBy: call.event.sender.id }]);
        return '⚠️ From now on I ask nobody in this conversation. /yolo off ends that.';
      case 'off':
        return (await revokeGrants(tx, call.sessionId, [everything])) === 0 ? 'I ask before something that may do harm, as always.' : 'I ask again before something that may do harm.';
      case 'status':
        return (await isOn(tx, call)) ? '⚠️ In this conversation I ask nobody. /yolo off ends that.' : 'I ask before something that may do harm.';
      case undefined:
        return 'Usage: /yolo [on|off|status]';
    }
  },
};
