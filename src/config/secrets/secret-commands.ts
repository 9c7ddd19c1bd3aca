import type { Environment } from '../variables.ts';
import { runSecretCommand } from './run-secret-command.ts';
import type { SecretReading } from './secret-source.ts';

/**
 * Asks the commands that print secrets, each once for as long as it lives: one command of the program, one start of a gateway, one change of its files. A
 * command may cost a second, or put a question on somebody's screen.
 */
export interface SecretCommands {
  run(line: string, at: { readonly cwd: string | undefined; readonly env: Environment }): Promise<SecretReading>;
}

export const newSecretCommands = (): SecretCommands => {
  const answers = new Map<string, Promise<SecretReading>>();
  return {
    run(line, at) {
      // Another home may mean something else by the same words.
      const key = JSON.stringify([at.cwd, line]);
      const answer = answers.get(key) ?? runSecretCommand(line, at);
      answers.set(key, answer);
      return answer;
    },
  };
};
