import { join } from 'node:path';
import { sections } from '../../src/cli/configuration/settings.ts';
import { knownVariables } from '../../src/config/upkeep/misspelt-variables.ts';
import { platforms } from '../../src/platforms/registry.ts';
import type { World } from './whole.ts';

export const modelKey = 'sk-a-key-that-must-not-be-shown-0123456789';

/** Nothing that the machine of the tests has in its environment is found. */
const bare = Object.fromEntries([...knownVariables(sections, platforms).keys()].map((name) => [name, '']));

/** The world with a home in which nothing has been configured. */
export const fresh = (world: World, env: Readonly<Record<string, string>> = {}): World => {
  const home = join(world.home, 'fresh');
  return { ...world, home, env: { ...bare, HERMES_HOME: home, ...env } };
};

/** What opens the model and the messenger of a world. */
export const credentials = (world: World): Readonly<Record<string, string>> => ({ OPENAI_API_KEY: modelKey, TELEGRAM_BOT_TOKEN: world.telegram.token });
