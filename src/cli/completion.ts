import { Argument, Command } from 'commander';
import { bashScript, fishScript, zshScript } from './completion-scripts.ts';
import type { CompletionPlace, CompletionWord } from './completion-scripts.ts';
import type { Terminal } from './environment.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

const optionWords = (command: Command): readonly CompletionWord[] =>
  command.options.filter(({ hidden }) => !hidden).flatMap(({ short, long, description }) => [long, short].filter((word) => word !== undefined).map((word) => ({ word, about: description })));

const choiceWords = (command: Command): readonly CompletionWord[] => command.registeredArguments.flatMap(({ argChoices, description }) => (argChoices ?? []).map((word) => ({ word, about: description })));

/** Every command of the tree with what may follow it. */
const placesOf = (command: Command, path: string, more: readonly CompletionWord[] = []): readonly CompletionPlace[] => {
  const inner = command.commands.flatMap((sub) => placesOf(sub, `${path}/${sub.name()}`));
  const names = command.commands.map((sub) => ({ word: sub.name(), about: sub.description() }));
  const words = [...names, ...choiceWords(command), ...optionWords(command), ...more, { word: '--help', about: 'show help' }];
  return [{ path, words }, ...inner];
};

export interface CompletedTree {
  readonly all: () => Command;
  /** What runs when no command is named; its options may stand without its name. */
  readonly byDefault: Command;
}

/** `hermes completion bash|zsh|fish`: what the shell has to know about the commands there are. */
export const completionCommand = (terminal: Terminal, { all, byDefault }: CompletedTree): Command =>
  new Command('completion')
    .description('Print a script that lets your shell complete commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(scripts)))
    .addHelpText('after', '\nExamples:\n  hermes completion bash > ~/.local/share/bash-completion/completions/hermes\n  hermes completion zsh > "${fpath[1]}/_hermes"\n  hermes completion fish > ~/.config/fish/completions/hermes.fish')
    .action((shell: keyof typeof scripts) => terminal.write(scripts[shell](placesOf(all(), '', optionWords(byDefault)))));
