import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { World } from '../chaos/world.ts';
import { environment, launcher, startGateway } from '../gateway-process.ts';
import type { GatewayProcess } from '../gateway-process.ts';

/** Every way in which a gateway is made to end and come back, and somebody else at its file. */
export const means = ['SIGTERM', 'kill -9', '/restart', 'hermes gateway restart', 'run --replace', 'SIGHUP', 'store held for ten seconds'] as const;

export type Means = (typeof means)[number];

/** The gateway under test, whichever process that is at the moment. */
export interface Subject {
  readonly home: string;
  readonly world: World;
  gateway: GatewayProcess;
}

/** Far more than a start or an orderly end may take. */
const patienceMs = 60_000;
const holdMs = 10_000;

/** An admin, in a chat of their own: what is said here is not judged. */
export const operator = { chatId: '9', chatType: 'dm', senderId: '9' } as const;

const noteEnd = ({ world }: Subject, signal: NodeJS.Signals): void => void world.kills.push({ atMs: Date.now(), signal });

const endAndStart = async (subject: Subject, signal: NodeJS.Signals): Promise<void> => {
  noteEnd(subject, signal);
  await subject.gateway.end(signal);
  subject.gateway = await startGateway(subject.home);
};

const reports = ({ world }: Subject): number => world.telegrams.telegram.visible(operator.chatId).filter(({ text }) => text.startsWith('✅ I am back')).length;

const restartFromChat = async (subject: Subject): Promise<void> => {
  const before = reports(subject);
  noteEnd(subject, 'SIGTERM');
  await subject.world.telegrams.telegram.say({ ...operator, text: '/restart' });
  const untilMs = Date.now() + patienceMs;
  while (reports(subject) === before) {
    if (Date.now() > untilMs) throw new Error('nobody said in the chat that the gateway is back');
    await sleep(50);
  }
};

const restartFromShell = async (subject: Subject): Promise<void> => {
  noteEnd(subject, 'SIGTERM');
  await promisify(execFile)(process.execPath, [launcher, 'gateway', 'restart'], { env: environment(subject.home, {}), timeout: patienceMs });
};

/** The new one is there before the old one goes. */
const replace = async (subject: Subject): Promise<void> => {
  const before = subject.gateway;
  noteEnd(subject, 'SIGTERM');
  subject.gateway = await startGateway(subject.home, ['--replace']);
  await before.end();
};

const holdStore = async (subject: Subject): Promise<void> => {
  const script = `
    const db = new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 5000 });
    db.exec('begin exclusive');
    setTimeout(() => { db.exec('commit'); db.close(); }, ${holdMs});`;
  const child = spawn(process.execPath, ['-e', script, join(subject.home, 'gateway.db')], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`whoever was to hold the store ended with ${code}`);
};

const ways: Readonly<Record<Means, (subject: Subject) => Promise<void>>> = {
  SIGTERM: (subject) => endAndStart(subject, 'SIGTERM'),
  'kill -9': (subject) => endAndStart(subject, 'SIGKILL'),
  '/restart': restartFromChat,
  'hermes gateway restart': restartFromShell,
  'run --replace': replace,
  SIGHUP: (subject) => endAndStart(subject, 'SIGHUP'),
  'store held for ten seconds': holdStore,
};

/** Lets one of these happen; answers what went wrong, if anything. */
export const disturb = async (subject: Subject, by: Means): Promise<string | undefined> => {
  try {
    await ways[by](subject);
    return subject.gateway.isRunning() ? undefined : `after ${by} nothing runs:\n${subject.gateway.output()}`;
  } catch (error) {
    return `${by}: ${error instanceof Error ? error.message : String(error)}\n${subject.gateway.output()}`;
  }
};
