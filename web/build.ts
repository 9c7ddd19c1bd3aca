import { fileURLToPath } from 'node:url';
import { processEnvironment } from '../src/config/variables.ts';
import { ensureBuilt } from '../src/http/ensure-built.ts';
import { silentLogger } from '../src/lib/logger.ts';

const built = await ensureBuilt({ root: fileURLToPath(new URL('..', import.meta.url)), log: silentLogger, environment: processEnvironment() });
process.stdout.write(`web/dist: ${built}\n`);
if (built === 'unavailable') process.exitCode = 1;
