import { execFile } from 'node:child_process';

const urlOf = (name: string): string => new URL(name, import.meta.url).href;

/** What a mortal process does: restores a backup. */
export const restoring = (file: string, home: string): string => `const { restoreBackup } = await import('${urlOf('./restore-backup.ts')}'); await restoreBackup({ ...${JSON.stringify({ file, home, dropOpen: false })}, clock });`;

/** What a mortal process does: finishes a restore that was interrupted. */
export const finishing = (home: string): string => `const { finishRestore } = await import('${urlOf('./finish-restore.ts')}'); await finishRestore(${JSON.stringify(home)}, clock);`;

/** In a process of its own, which dies as in a power cut when it has renamed so many things; answers how many it had renamed if it came to its end before. */
export const mortal = (work: string, life: { readonly renames: number; /** A folder that makes the next ones start faster. */ readonly cache: string }): Promise<number | 'killed'> => {
  const script = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { rename } = fs.promises;
    let done = 0;
    fs.promises.rename = (from, to) => {
      if (done === ${life.renames}) process.kill(process.pid, 'SIGKILL');
      done += 1;
      return rename(from, to);
    };
    syncBuiltinESMExports();
    const { systemClock: clock } = await import('${urlOf('../lib/clock.ts')}');
    ${work}
    console.log(done);`;
  const { promise, resolve, reject } = Promise.withResolvers<number | 'killed'>();
  execFile(process.execPath, ['--input-type=module', '-e', script], { env: { NODE_COMPILE_CACHE: life.cache } }, (error, stdout) => {
    if (error === null) resolve(Number(stdout));
    else if (error.signal === 'SIGKILL') resolve('killed');
    else reject(error);
  });
  return promise;
};
