import type { MemoryOptions } from './options.ts';
import type { MemoryProvider } from './provider.ts';

/** The provider that the settings name, loaded only then; undefined when they name none. */
export const createMemoryProvider = async (options: MemoryOptions, agent: string): Promise<MemoryProvider | undefined> => {
  switch (options.provider) {
    case 'none':
      return undefined;
    case 'honcho':
      return (await import('./honcho/index.ts')).newHonchoProvider(options.honcho, agent);
    default:
      throw options.provider satisfies never;
  }
};
