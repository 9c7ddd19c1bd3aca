import { join } from 'node:path';
import type { Logger } from '../../../lib/logger.ts';
import { loadSkills } from './load-skills.ts';
import type { Skill, SkillRoot, SkillShelf } from './load-skills.ts';
import type { SkillsOptions } from './options.ts';

export interface SkillLibraryDeps {
  /** The agent's home; its own skills lie in `skills` there. */
  readonly home: string;
  /** Stands for `~` in the settings. */
  readonly userHome: string;
  /** Read with every reload. */
  options(): SkillsOptions;
  readonly log: Logger;
}

/** What a reload has changed, by name. */
export interface SkillChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

const expand = (folder: string, userHome: string): string => (folder === '~' || folder.startsWith('~/') ? join(userHome, folder.slice(1)) : folder);

const differs = (a: Skill, b: Skill): boolean => JSON.stringify(a) !== JSON.stringify(b);

/** The skills of one agent as they were when they were last read. */
export class SkillLibrary {
  readonly #deps: SkillLibraryDeps;
  #shelf: SkillShelf = { skills: [], broken: [] };

  constructor(deps: SkillLibraryDeps) {
    this.#deps = deps;
  }

  /** Where the agent writes its own. */
  get ownFolder(): string {
    return join(this.#deps.home, 'skills');
  }

  get shelf(): SkillShelf {
    return this.#shelf;
  }

  find(name: string): Skill | undefined {
    const wanted = name.trim().toLowerCase();
    return this.#shelf.skills.find((skill) => skill.name === wanted);
  }

  /** Reads all skills anew. Conversations that are under way see the change in what their tools answer, not in their prompt. */
  async reload(): Promise<SkillChanges> {
    const { options, userHome, log } = this.#deps;
    const { disabled, external_dirs } = options();
    const roots: readonly SkillRoot[] = [{ folder: this.ownFolder, writable: true }, ...external_dirs.map((folder) => ({ folder: expand(folder, userHome), writable: false }))];
    const { skills, broken } = await loadSkills(roots);
    const before = new Map(this.#shelf.skills.map((skill) => [skill.name, skill]));
    const now = skills.filter((skill) => !disabled.includes(skill.name));
    const names = new Set(now.map((skill) => skill.name));
    this.#shelf = { skills: now, broken };
    for (const { path, reason } of broken) log.warn({ path, reason }, 'skill.broken');
    return {
      added: now.filter((skill) => !before.has(skill.name)).map((skill) => skill.name),
      changed: now.filter((skill) => before.has(skill.name) && differs(skill, before.get(skill.name) ?? skill)).map((skill) => skill.name),
      removed: [...before.keys()].filter((name) => !names.has(name)),
    };
  }
}
