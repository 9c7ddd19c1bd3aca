import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltinHook } from '../builtin-hook.ts';
import { errorCode } from '../error-code.ts';

export interface BootDeps {
  /** Each agent with the folder that is its own. */
  agents(): readonly { readonly id: string; readonly home: string }[];
  /** Has an agent work on a text by itself; its answer goes to the owner. */
  begin(agent: string, text: string): Promise<void>;
}

const mostCharacters = 20_000;

const readBoot = async (home: string): Promise<string | undefined> => {
  try {
    const text = (await readFile(join(home, 'BOOT.md'), 'utf8')).trim();
    return text === '' ? undefined : text.slice(0, mostCharacters).toWellFormed();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const prompt = (text: string): string =>
  [
    '[The gateway has just started, and nobody is here to answer questions. Work through the instructions below, which its owner has written down in BOOT.md.',
    'Your last message goes to the owner. If there is nothing worth reporting, answer with [SILENT] and nothing else.]',
    '',
    text,
  ].join('\n');

const bootAgent = async ({ id, home }: ReturnType<BootDeps['agents']>[number], begin: BootDeps['begin']): Promise<void> => {
  const text = await readBoot(home);
  if (text !== undefined) await begin(id, prompt(text));
};

/** Whatever stands in an agent's `BOOT.md` is done by that agent once the gateway has started. */
export const bootMd = ({ agents, begin }: BootDeps): BuiltinHook => ({
  id: 'boot-md',
  manifest: { name: 'boot-md', description: 'Has each agent work through its BOOT.md when the gateway starts', events: ['gateway:startup'], kind: 'observe', on_failure: 'pass', enabled: true },
  async handle() {
    const begun = await Promise.allSettled(agents().map((agent) => bootAgent(agent, begin)));
    const failures = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, failures.map((reason) => (reason instanceof Error ? reason.message : String(reason))).join('; '));
    return null;
  },
});
