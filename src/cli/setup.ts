import { Argument, Command } from 'commander';
import type { Terminal } from './environment.ts';
import { steps } from './setup/flags.ts';
import type { SetupFlags, Step } from './setup/flags.ts';

const gather = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const help = `
Examples:
  hermes setup                                     ask for everything
  hermes setup platform                            ask for one step again
  OPENAI_API_KEY=… hermes setup --non-interactive --model-provider openai --model gpt-5-mini --save-env
  TELEGRAM_BOT_TOKEN=… hermes setup --non-interactive --platform telegram --save-env --allow-user 123456789
  hermes setup --non-interactive --model-provider ollama --model qwen3 --json

Credentials are tried before anything is written, and files that are there keep their comments and are backed up.
Secrets belong into the environment: what stands on a command line can be seen by others.`;

/** `hermes setup`: from nothing to the first message. */
export const setupCommand = (terminal: Terminal): Command =>
  new Command('setup')
    .description('Find a model, connect a messenger, let yourself in, and write the configuration')
    .addArgument(new Argument('[step]', 'only this step').choices(steps))
    .option('--non-interactive', 'ask nothing; take everything from the command line and the environment')
    .option('--model-provider <name>', 'whose model, such as openai, anthropic, ollama or custom')
    .option('--model <name>', 'which model, as the endpoint calls it')
    .option('--base-url <url>', 'the address of the endpoint, when it is not the usual one')
    .option('--api-key-env <name>', 'the variable that holds its key, when it is not the usual one')
    .option('--platform <account>', 'the messenger to connect, such as telegram or telegram@work')
    .option('--set <key=value>', 'a setting of the messenger, or any setting by its whole path; can be repeated', gather)
    .option('--allow-user <id>', 'somebody who may talk to the agent there; can be repeated', gather)
    .option('--invite', 'make a code that lets in whoever sends it to the bot')
    .option('--save-env', 'keep credentials that stand in the environment in .env too')
    .option('--skip-checks', 'do not try the credentials')
    .option('--plain', 'ask line by line, without moving the cursor; for dumb terminals, screen readers and pipes')
    .option('--json', 'ask nothing and print JSON')
    .addHelpText('after', help)
    .action(async (step: Step | undefined, flags: Partial<SetupFlags>) => {
      const { runSetup } = await import('./setup/run-setup.ts');
      await runSetup(terminal, { set: [], allowUser: [], ...flags }, step);
    });
