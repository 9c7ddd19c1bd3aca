import { Command } from 'commander';
import { platforms } from '../platforms/registry.ts';
import { loadPlugins } from './configuration/plugins.ts';
import { json, table } from './environment.ts';
import type { Terminal } from './environment.ts';

const list = async (terminal: Terminal, flags: { json?: true }): Promise<void> => {
  const outside = await loadPlugins(terminal.env);
  const rows = [
    ...platforms.filter(({ name }) => !outside.some((each) => (each.ok ? each.platform.name : each.name) === name)).map(({ name, label }) => ({ name, label, from: 'built in' })),
    ...outside.map((each) => (each.ok ? { name: each.platform.name, label: each.platform.label, from: each.written } : { name: each.name, label: '', from: each.written, problem: each.problem })),
  ];
  if (flags.json === true) terminal.write(json(rows));
  else terminal.write(`${table([['NAME', 'LABEL', 'FROM'], ...rows.map((row) => [row.name, row.label, 'problem' in row ? `${row.from}: ${row.problem}` : row.from])])}\n`);
};

/** `hermes platform list|check` */
export const platformCommand = (terminal: Terminal): Command => {
  const command = new Command('platform').description('Platforms of one’s own: which there are, and whether one keeps its promises');
  command
    .command('list')
    .description('List every platform, also those that plugins.platforms names')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes platform list')
    .action((flags: { json?: true }) => list(terminal, flags));
  command
    .command('check')
    .description('Load a platform and run the conformance suite on it, against its own simulator')
    .argument('<platform>', 'its name, a folder, or a package that is installed in the home folder')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes platform check telegram\n  hermes platform check ./my-platform\n  hermes platform check hermes-platform-foo --json')
    .action(async (written: string, flags: { json?: true }) => {
      // The suite is loaded only when it is used.
      const { checkPlatform } = await import('./checks/check-platform.ts');
      await checkPlatform(terminal, written, flags);
    });
  return command;
};
