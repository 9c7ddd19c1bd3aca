import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { newRedactor } from '../../lib/redact.ts';
import { openStore } from '../../store/open.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { redactForModel } from '../redact-for-model.ts';
import type { ToolContext } from '../tools/contract.ts';
import { AgentMemory } from './agent-memory.ts';
import type { AgentMemoryDeps } from './agent-memory.ts';
import { memorySection } from './options.ts';
import type { MemoryProvider, MemorySession } from './provider.ts';

export const dmSession: MemorySession = { sessionId: 's1', agent: 'main', platform: 'telegram', account: 'telegram', userId: '7', isPrivate: true };
export const sharedSession: MemorySession = { sessionId: 's2', agent: 'main', platform: 'telegram', account: 'telegram', isPrivate: false };

/** A home and a store with a direct conversation of person 7 (`s1`) and a shared one (`s2`). */
export interface MemoryScene extends AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly lines: readonly string[];
  memory(options?: object, more?: { readonly provider?: MemoryProvider; readonly clock?: Clock; readonly isOwner?: AgentMemoryDeps['isOwner'] }): AgentMemory;
}

export const newMemoryScene = async (): Promise<MemoryScene> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-memory-'));
  const { log, lines } = capturingLogger();
  const store = await openStore({ path: join(home, 'gateway.db'), clock: systemClock, log, checkIntegrity: false });
  const redactor = newRedactor();
  await store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
    await createSession(tx, { id: 's2', agent: 'main', account: 'telegram', chatType: 'group' });
  });
  return {
    home,
    store,
    lines,
    memory: (options = {}, { provider, clock = systemClock, isOwner } = {}) =>
      new AgentMemory({ agent: 'main', home, options: memorySection.schema.parse(options), store, owner: 'node', clock, log, redact: (text) => redactForModel(redactor, text), ...(provider !== undefined && { provider }), ...(isOwner !== undefined && { isOwner }) }),
    async [Symbol.asyncDispose]() {
      await store.close();
      await rm(home, { recursive: true });
    },
  };
};

export const toolContext = (session: MemorySession, turnId = 't1'): ToolContext => ({
  sessionId: session.sessionId,
  turnId,
  callId: 'c1',
  place: { agent: 'main', platform: session.platform, target: { account: session.account, chatId: '7', chatType: session.isPrivate ? 'dm' : 'group' }, sender: { id: '7', isBot: false } },
  clock: systemClock,
  asyncDelivery: true,
  alive: () => undefined,
  ask: async () => ({ type: 'unattended' }),
});

export const callTool = (memory: AgentMemory, name: string, args: Readonly<Record<string, unknown>>, session: MemorySession = dmSession): Promise<string> => {
  const tool = memory.tools.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool.run(args, toolContext(session), new AbortController().signal);
};
