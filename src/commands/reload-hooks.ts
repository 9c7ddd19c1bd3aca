import type { HookReport } from '../hooks/observer.ts';
import type { Command } from './contract.ts';

const line = ({ id, calls, failures, dropped, waiting, lastProblem }: HookReport): string => {
  const trouble = [failures > 0 ? `${failures} failed` : '', dropped > 0 ? `${dropped} dropped` : '', waiting > 0 ? `${waiting} waiting` : ''].filter((part) => part !== '').join(', ');
  return `- \`${id}\`: ${calls} ${calls === 1 ? 'call' : 'calls'}${trouble === '' ? '' : `, ${trouble}`}${lastProblem === undefined ? '' : ` (last: ${lastProblem.slice(0, 200)})`}`;
};

/** Shows how hooks have done so far, for a reload forgets it. */
export const reloadHooks: Command = {
  name: 'reload-hooks',
  aliases: [],
  category: 'Tools',
  description: 'Read the hooks anew, and show how they have done so far',
  role: 'admin',
  whileRunning: 'allowed',
  run(_tx, call) {
    const { hooks } = call.reach;
    if (hooks === undefined) return Promise.resolve('There are no hooks here.');
    const before = hooks.report().hooks;
    call.after(async () => {
      const { hooks: now, broken } = await hooks.reload();
      return [
        `🔄 ${now.length} ${now.length === 1 ? 'hook' : 'hooks'}: ${now.map(({ id }) => `\`${id}\``).join(', ')}`,
        ...broken.map(({ folder, problem }) => `⚠️ \`${folder}\` cannot be used: ${problem}`),
        ...(before.some(({ calls }) => calls > 0) ? ['So far:', ...before.filter(({ calls }) => calls > 0).map(line)] : []),
      ].join('\n');
    });
    return Promise.resolve('');
  },
};
