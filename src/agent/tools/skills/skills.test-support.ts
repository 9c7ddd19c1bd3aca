import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { capturingLogger } from '../../../lib/logger.ts';
import { manualClock } from '../../../lib/clock.ts';
import { somewhere } from '../../turn.test-support.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { skillsSection } from './options.ts';
import { SkillLibrary } from './skill-library.ts';

export const skillText = (name: string, more: { readonly description?: string; readonly yaml?: string; readonly body?: string } = {}): string =>
  `---\nname: ${name}\ndescription: ${more.description ?? `What ${name} does`}\n${more.yaml ?? ''}---\n\n${more.body ?? `How ${name} is done.`}\n`;

export interface SkillBench extends AsyncDisposable {
  readonly home: string;
  readonly library: SkillLibrary;
  readonly lines: readonly string[];
  /** A file below the home folder. */
  put(path: string, text: string): Promise<void>;
  /** A skill below `skills`. */
  shelve(path: string, text?: string): Promise<void>;
}

export const newSkillBench = async (written: object = {}): Promise<SkillBench> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-skills-'));
  const { log, lines } = capturingLogger();
  const library = new SkillLibrary({ home, userHome: home, options: () => skillsSection.schema.parse(written), log });
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  };
  return {
    home,
    library,
    lines,
    put,
    shelve: (path, text = skillText(path.split('/').at(-1) ?? '')) => put(`skills/${path}/SKILL.md`, text),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
};

export const call = (tool: Tool, args: Record<string, unknown>, more: Partial<ToolContext> = {}): Promise<string> =>
  tool.run(args, { sessionId: 's', turnId: 't', callId: 'c', place: somewhere, clock: manualClock(), asyncDelivery: true, alive: () => undefined, ask: async () => ({ type: 'unattended' }), ...more }, new AbortController().signal);
