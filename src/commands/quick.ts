import type { Command, CommandCall } from './contract.ts';
import { runShell } from './run-shell.ts';
import type { QuickCommand } from './settings.ts';

const timeLimitMs = 30_000;
const maxOutputBytes = 16 * 1024;

/** A fence that the text cannot close. */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
};

const execute = (name: string, line: string, call: CommandCall): string => {
  call.after(async ({ signal, clock }) => {
    const ran = await runShell(line, { env: call.reach.childEnvironment(), timeLimitMs, maxOutputBytes, clock, signal });
    const said = call.reach.redact((ran.stdout.trim() === '' ? ran.stderr : ran.stdout).trim());
    const end = ran.end === 'time limit' ? `⚠️ /${name} was ended after ${timeLimitMs / 1000} s.` : ran.exitCode === 0 ? '' : `⚠️ /${name} ended with ${ran.exitCode ?? 'a signal'}.`;
    const output = said === '' ? '' : fenced(said);
    return [end, output].filter((part) => part !== '').join('\n') || `/${name} printed nothing.`;
  });
  return '';
};

/** Commands that the owner has written down in the configuration. */
export const quickCommands = (quick: Readonly<Record<string, QuickCommand>>): readonly Command[] =>
  Object.entries(quick).map(([name, defined]): Command => {
    const common = { name, aliases: [], category: 'Tools', whileRunning: 'allowed' } as const;
    switch (defined.type) {
      case 'exec':
        return { ...common, description: defined.description ?? 'A command of the owner', run: (_tx, call) => Promise.resolve(execute(name, defined.command, call)) };
      case 'alias':
        return { ...common, description: defined.description ?? `Stands for ${defined.target}`, standsFor: defined.target, run: () => Promise.resolve('') };
      default:
        throw defined satisfies never;
    }
  });
