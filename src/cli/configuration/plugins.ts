import { configFileName } from '../../config/evaluate.ts';
import { resolveHome } from '../../config/home.ts';
import { configFiles } from '../../config/load-config.ts';
import { childOf } from '../../config/settings/setting-node.ts';
import { parseYaml } from '../../config/text/parse-yaml.ts';
import { readConfigFile } from '../../config/text/read-config-file.ts';
import type { Environment } from '../../config/variables.ts';
import { loadPlatform } from '../../platforms/load-platform.ts';
import type { LoadedPlatform } from '../../platforms/load-platform.ts';

/** `plugins.platforms` as it is written. What is wrong with it is said when the configuration as a whole is read, which needs the platforms first. */
const writtenPlatforms = async (home: string): Promise<readonly string[]> => {
  const file = await readConfigFile(configFiles(home).config);
  if (file.kind !== 'text' || !file.text.includes('plugins')) return [];
  const parsed = parseYaml(file.text, configFileName);
  const list = parsed.ok ? childOf(childOf(parsed.root, 'plugins'), 'platforms') : undefined;
  return list?.kind === 'list' ? list.items.flatMap((item) => (item.kind === 'scalar' && typeof item.value === 'string' ? [item.value.trim()] : [])) : [];
};

/** The platforms from outside that the configuration names. Never rejects for what is in them. */
export const loadPlugins = async (env: Environment): Promise<readonly LoadedPlatform[]> => {
  const home = resolveHome(env);
  return Promise.all((await writtenPlatforms(home)).filter((written) => written !== '').map((written) => loadPlatform(written, home)));
};
