import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describeSettings } from '../../config/settings/describe-settings.ts';
import type { Environment } from '../../config/variables.ts';
import { platforms } from '../../platforms/registry.ts';
import { sections } from '../configuration/settings.ts';

/** The environment without what the settings call a secret. */
export const withoutSecrets = (env: Environment): Environment => {
  const secrets = new Set(describeSettings(sections, platforms).filter(({ secret }) => secret).map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)));
};

/** Runs a command of the person, who sees and steers it directly; the model learns nothing of it. Answers how it ended. */
export const runShell = async (command: string, env: Environment, input: 'inherit' | 'ignore'): Promise<string | undefined> => {
  const child = spawn(command, { shell: env['SHELL'] ?? true, stdio: [input, 'inherit', 'inherit'], env: withoutSecrets(env) as NodeJS.ProcessEnv });
  // Control-C is meant for the command.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (code === 0) return undefined;
    return code === null ? `ended by ${signal}` : `exit ${code}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    process.off('SIGINT', ignore);
  }
};
