// Runs after `npm install` in a clone: builds the page and fills the compile cache, so that the first start is as quick as later ones.
import { openCompileCache } from './compile-cache.js';

const least = 26;

if (Number(process.versions.node.split('.')[0]) >= least) {
  openCompileCache();
  try {
    await import('../src/cli/main.ts');
    await import('../src/cli/program.ts');
    await import('../src/cli/run.ts');
    await import('../web/build.ts');
  } catch (error) {
    console.error(`The first start will take a little longer: ${error.message}`);
  }
}
