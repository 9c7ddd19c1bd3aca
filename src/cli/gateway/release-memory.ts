import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const afterMs = 2000;

/** Loading the program leaves garbage that an idle process would hold for hours: it is collected once, when everybody has been greeted. About 10 MB. */
export const releaseMemoryOfStart = (): void => {
  const collect = (): void => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }) => void;
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  };
  setTimeout(collect, afterMs).unref();
};
