import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { manualClock, systemClock } from '../../lib/clock.ts';
import type { Clock, ManualClock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { Agent, TurnInput } from '../contract.ts';
import { hello } from '../turn.test-support.ts';
import { newAcpAgent } from './acp-agent.ts';
import type { AcpAgentDeps } from './acp-agent.ts';

const script = fileURLToPath(new URL('scripted-agent.test-support.ts', import.meta.url));

/** As the system's, but nobody waits long before a program is started again; what a program has to do in time it has time for on a slow machine, too. */
const hurriedClock: Clock = { now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(ms < 5_000 ? Math.min(ms, 50) : ms * 10, signal) };
/** The same, and nobody waits long either for one that is to stop. */
export const impatientClock: Clock = { now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(ms <= 5_000 ? Math.min(ms, 50) : ms, signal) };

/** Deadlines come only when the test lets time pass; what is short is not waited for. */
export const deadlineClock = (): { readonly clock: Clock; readonly manual: ManualClock } => {
  const manual = manualClock();
  return { manual, clock: { now: manual.now, sleep: (ms, signal) => (ms >= 10_000 ? manual.sleep(ms, signal) : systemClock.sleep(Math.min(ms, 10), signal)) } };
};

export interface Told {
  readonly session: string;
  readonly event?: string;
  readonly prompt?: readonly ContentBlock[];
}

export interface Bench extends AsyncDisposable {
  readonly store: Store;
  readonly folder: string;
  readonly home: string;
  readonly logLines: readonly string[];
  /** A further one on the same store and folder, as after a restart of the gateway. */
  agent(more?: Partial<Omit<AcpAgentDeps, 'options'>> & { readonly abilities?: string; readonly options?: Partial<AcpAgentDeps['options']> }): Agent & AsyncDisposable;
  /** What the scripted agent has written down, over all its runs. */
  told(): readonly Told[];
  /** The texts of its prompts. */
  prompts(): readonly string[];
}

export const newBench = async (): Promise<Bench> => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-acp-')));
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  await mkdir(folder);
  await mkdir(join(home, 'media'), { recursive: true });
  const { log, lines } = capturingLogger();
  const store = await openStore({ path: join(home, 'gateway.db'), clock: systemClock, log, checkIntegrity: false });
  const agents: AsyncDisposable[] = [];
  const told = (): readonly Told[] => {
    const path = join(folder, 'told.jsonl');
    // The last line may not be whole yet.
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as Told) : [];
  };
  return {
    store,
    folder,
    home,
    logLines: lines,
    told,
    prompts: () => told().flatMap(({ prompt }) => (prompt === undefined ? [] : [prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')])),
    agent({ abilities = '', options = {}, ...more } = {}) {
      const made = newAcpAgent({
        options: { command: [process.execPath, script], env: { ABILITIES: abilities }, files: 'none', ...options },
        cwd: folder,
        environment: { PATH: process.env['PATH'] ?? '' },
        home,
        userHome: join(root, 'nobody'),
        mediaFolder: join(home, 'media'),
        version: 'test',
        store,
        clock: hurriedClock,
        log,
        approvalTimeoutMs: () => 60_000,
        approvesAll: async () => false,
        ...more,
      });
      agents.push(made);
      return made;
    },
    async [Symbol.asyncDispose]() {
      for (const made of agents) await made[Symbol.asyncDispose]();
      await store.close();
      rmSync(root, { recursive: true });
    },
  };
};

export const user = (content: string): TranscriptMessage => ({ role: 'user', content });
export const assistant = (content: string): TranscriptMessage => ({ role: 'assistant', content });

export interface Ran {
  readonly events: readonly TurnEvent[];
  readonly messages: readonly TranscriptMessage[];
  readonly text: string;
  readonly end: Extract<TurnEvent, { type: 'end' }>;
}

/** Runs one turn to its end. `onEvent` is called with each event before the next one is pulled. */
export const run = async (agent: Agent, input: Partial<TurnInput>, more: { readonly signal?: AbortSignal; onEvent?(event: TurnEvent): void } = {}): Promise<Ran> => {
  const events: TurnEvent[] = [];
  for await (const event of agent.run({ ...hello, ...input }, more.signal ?? new AbortController().signal)) {
    events.push(event);
    more.onEvent?.(event);
  }
  const end = events.at(-1);
  assert.ok(end?.type === 'end', 'the last event is the end');
  assert.equal(events.filter(({ type }) => type === 'end').length, 1);
  return {
    events,
    messages: events.flatMap((event) => (event.type === 'message' ? [event.message] : [])),
    text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''),
    end,
  };
};

/** A turn that answers this. */
export const asking = (content: string, more: Partial<TurnInput> = {}): Partial<TurnInput> => ({ transcript: [user(content)], ...more });
