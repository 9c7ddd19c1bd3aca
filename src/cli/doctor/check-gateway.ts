import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpOptions } from '../../http/options.ts';
import { reachableUrl } from '../../http/reachable-url.ts';
import { probeSocket } from '../chat/probe-socket.ts';
import { span } from '../environment.ts';
import { probeDoor } from '../gateway/probe-door.ts';
import { outsideText } from '../gateway/process.ts';
import { silenceFix, silenceText } from '../gateway/silence.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const pidOf = async (home: string): Promise<string | undefined> => {
  try {
    return (await readFile(join(home, 'gateway.pid'), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const doorFindings = async (examined: Examination, http: HttpOptions, signal: AbortSignal): Promise<readonly Finding[]> => {
  if (http.port === 0) return [ok('The page takes any free port')];
  const held = await probeDoor(http, signal);
  const where = `Port ${http.port} on ${http.host}`;
  const elsewhere = 'Stop it, or set http.port to another number: hermes config set http.port 8643';
  const isOurs = examined.isRunning && (await pidOf(examined.home)) !== undefined;
  switch (held.by) {
    case 'nobody':
      return [isOurs ? broken(`The gateway runs, but nothing answers at ${reachableUrl(http.host, http.port)}`, 'Restart the gateway; its log says why') : ok(`${where} is free`)];
    case 'silence':
      return [isOurs ? broken(`The gateway holds port ${http.port}, but does not answer`, silenceFix) : broken(`${where} is held by a program that does not answer`, elsewhere)];
    case 'stranger':
      return [broken(`${where} is held by another program`, elsewhere)];
    case 'gateway':
      if (!isOurs) return [broken(`${where} is held by a gateway with another home`, elsewhere)];
      return [
        ok(`The page answers at ${reachableUrl(http.host, http.port)}, for ${span(held.uptimeMs)} now`),
        ...(held.version === examined.terminal.version ? [] : [warning(`The gateway runs version ${held.version}, and this is ${examined.terminal.version}`, 'Restart the gateway')]),
      ];
    default:
      throw held satisfies never;
  }
};

const socketFindings = async (examined: Examination, signal: AbortSignal): Promise<readonly Finding[]> => {
  const probed = examined.isRunning && examined.config !== undefined ? await probeSocket(examined.home, examined.config, signal) : undefined;
  if (probed === undefined) return [];
  return [probed.answers ? ok('Terminals can attach to it') : broken(`The gateway runs, but its socket ${probed.path} does not answer (${probed.reason})`, 'Restart the gateway')];
};

/** Whether a gateway runs in the home, and who has its port. */
export const checkGateway = async (examined: Examination, signal: AbortSignal): Promise<readonly Finding[]> => {
  if (examined.config === undefined) return [skipped('The configuration cannot be used')];
  const { http } = examined.config.sections;
  const pid = await pidOf(examined.home);
  const { silence, starting } = examined;
  if (starting !== undefined) return [warning(`The gateway is ${starting}`, 'Wait for it; hermes logs says what it does and what went before')];
  // Its door and its socket are as silent, and nobody else is to blame for it.
  if (silence !== undefined) return [broken(`The gateway ${silenceText(Number(pid), silence)}`, silenceFix)];
  if (examined.isOutside) return [warning(`The home is ${outsideText}`, 'Run hermes doctor there')];
  const state = !examined.isRunning ? warning('The gateway does not run', 'hermes gateway run') : ok(pid === undefined ? 'An open terminal chat hosts the gateway' : `The gateway runs (process ${pid})`);
  const [door, socket] = await Promise.all([doorFindings(examined, http, signal), socketFindings(examined, signal)]);
  return [state, ...door, ...socket];
};
