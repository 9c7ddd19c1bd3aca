import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { PlatformError } from '../core/errors.ts';
import type { Platform } from './contract.ts';
import { checkShape } from './platform-shape.ts';

export type LoadedPlatform =
  | { readonly ok: true; readonly written: string; readonly file: string; readonly platform: Platform }
  /** `name`: what it is probably called, by its folder or package. */
  | { readonly ok: false; readonly written: string; readonly name: string; readonly problem: string };

const kitName = 'hermes-gateway/platform';

/** As source, or as it was built. */
const kitUrl = new URL(import.meta.url.endsWith('.ts') ? 'platform-kit.ts' : 'platform-kit.js', import.meta.url).href;

let isKitKnown = false;

/** Lets modules outside find the gateway's own parts, wherever they lie. */
const offerKit = (): void => {
  if (isKitKnown) return;
  isKitKnown = true;
  registerHooks({ resolve: (specifier, context, next) => (specifier === kitName ? { url: kitUrl, shortCircuit: true } : next(specifier, context)) });
};

const isPath = (written: string): boolean => written.startsWith('.') || isAbsolute(written) || /^[A-Za-z]:[\\/]/.test(written);

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const entryOf = (folder: string): string | undefined => {
  if (isFile(folder)) return folder;
  return ['index.ts', 'index.js', 'index.mjs'].map((name) => join(folder, name)).find(isFile);
};

/** The package as it would be found from a module in the home folder. */
const importPackage = async (written: string, home: string): Promise<{ readonly module: Readonly<Record<string, unknown>>; readonly file: string }> => {
  const from = pathToFileURL(join(home, 'config.yaml')).href;
  let file = written;
  const hook = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== `package of the home: ${written}`) return next(specifier, context);
      const found = next(written, { ...context, parentURL: from });
      file = found.url;
      return found;
    },
  });
  try {
    return { module: (await import(`package of the home: ${written}`)) as Readonly<Record<string, unknown>>, file };
  } finally {
    hook.deregister();
  }
};

const importWritten = async (written: string, home: string): Promise<{ readonly module: Readonly<Record<string, unknown>>; readonly file: string }> => {
  if (!isPath(written)) return importPackage(written, home);
  const folder = resolve(home, written);
  const file = entryOf(folder);
  if (file === undefined) throw new Error(`${folder} has no index.ts or index.js`);
  return { module: (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>, file };
};

/** `hermes-platform-foo`, `@me/hermes-platform-foo` and `./foo-platform` are probably called `foo`. */
const nameBy = (written: string): string => basename(written).replace(/^hermes-platform-|-platform$/g, '').replace(/\.[jt]s$/, '').toLowerCase();

const mostListed = 5;

const listed = (problems: readonly string[]): string => [...problems.slice(0, mostListed), ...(problems.length > mostListed ? [`and ${problems.length - mostListed} more`] : [])].join('; ');

/** What went wrong, and where: a module that cannot be read says so at the top of its stack. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const [place = ''] = (error.stack ?? '').split('\n');
  const [message = ''] = error.message.split('\n');
  return error instanceof SyntaxError && /:\d+$/.test(place) ? `${message} (${place})` : message;
};

/** Loads a platform that is not part of this tree: a folder (from `home`), or a package installed there. Never rejects. */
export const loadPlatform = async (written: string, home: string): Promise<LoadedPlatform> => {
  const failed = (problem: string): LoadedPlatform => ({ ok: false, written, name: nameBy(written), problem });
  try {
    offerKit();
    const { module, file } = await importWritten(written, home);
    const exported = module['platform'] ?? module['default'];
    if (exported === undefined) return failed(`${file} exports neither \`platform\` nor a default`);
    const checked = checkShape(exported);
    return checked.ok ? { ok: true, written, file, platform: checked.platform } : failed(`${file}: ${listed(checked.problems)}`);
  } catch (error) {
    return failed(`${written}: ${reasonOf(error)}`);
  }
};

/** Stands for a platform that could not be loaded: every account of it is disabled, with the reason, and nothing else. */
const unloaded = (name: string, problem: string): Platform => ({
  name,
  label: name,
  options: z.looseObject({}).refine(() => false, `its platform could not be loaded: ${problem}`),
  limits: { text: 1, measure: (markdown) => markdown.length, editIntervalMs: 1000 },
  display: { tier: 'minimal' },
  hints: '',
  asyncDelivery: false,
  authenticatesSenders: false,
  // Without an account of it nobody would hear of it.
  alwaysOn: true,
  credential: () => undefined,
  open: () => Promise.reject(new PlatformError('unsupported', problem)),
  simulate: () => Promise.reject(new PlatformError('unsupported', problem)),
  exceptions: {},
});

/** The platforms that were loaded, each under a name of its own, and stand-ins for those that could not be. */
export const platformsFrom = (loaded: readonly LoadedPlatform[], taken: readonly string[]): readonly Platform[] => {
  const names = new Set(taken);
  const free = (name: string): string => {
    let found = name;
    for (let count = 2; names.has(found); count += 1) found = `${name}-${count}`;
    return found;
  };
  return loaded.map((each) => {
    const wanted = each.ok ? each.platform.name : each.name;
    const name = free(wanted);
    names.add(name);
    if (!each.ok) return unloaded(name, each.problem);
    return name === wanted ? each.platform : unloaded(name, `${each.file}: there is a platform called ${wanted} already`);
  });
};
