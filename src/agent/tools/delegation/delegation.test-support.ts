import { sampleTarget } from '../../../../test/support/samples.ts';
import { noUsage, addUsage } from '../../../core/transcript.ts';
import type { Usage } from '../../../core/transcript.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { enqueueNotice } from '../../../sessions/notice.ts';
import { bindSession, createSession } from '../../../store/sessions/sessions.ts';
import { registerNode } from '../../../store/nodes.ts';
import type { Store } from '../../../store/store.ts';
import { newChatSimulator } from '../../models/chat-simulator.ts';
import type { ChatSimulator } from '../../models/chat-simulator.ts';
import { newOpenAiProvider } from '../../models/endpoints/openai.ts';
import { sessionOfTurn, streamInSession } from '../../session-context.ts';
import { newAgent } from '../../turn.ts';
import { somewhere } from '../../turn.test-support.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { groupTools } from '../toolsets.ts';
import type { ToolGroup } from '../toolsets.ts';
import { newChildRunner } from './child-runner.ts';
import { Delegations } from './delegations.ts';
import type { DelegationsDeps } from './delegations.ts';
import { delegateTaskTool } from './delegate-task.ts';
import { delegationSection } from './options.ts';

export interface Bench extends AsyncDisposable {
  readonly simulator: ChatSimulator;
  readonly delegations: Delegations;
  readonly tool: Tool;
  readonly spent: () => Usage;
  readonly alive: () => number;
  call(args: Readonly<Record<string, unknown>>, more?: Partial<ToolContext>, signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
}

export interface BenchOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly Tool[];
  readonly owner?: string;
  readonly clock?: Clock;
  readonly release?: DelegationsDeps['release'];
}

export const sessionId = 's1';

/** A conversation of somebody, to which helpers report. */
export const beginConversation = (store: Store): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id: sessionId, agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
    await bindSession(tx, { sessionKey: 'k', sessionId, target: sampleTarget({ chatId: '42' }) });
  });

/** Helpers on the real loop of an agent, against a simulated endpoint. */
export const newBench = async (store: Store, options: BenchOptions = {}): Promise<Bench> => {
  const simulator = await newChatSimulator();
  const clock = options.clock ?? systemClock;
  const settings = () => delegationSection.schema.parse(options.settings ?? {});
  const owner = options.owner ?? 'node-1';
  await store.write((tx) => registerNode(tx, { id: owner, kind: 'gateway', pid: 1 }));
  const delegations = new Delegations({ store, clock, log: silentLogger, owner, settings, announce: enqueueNotice, redact: (text) => text.replaceAll('sk-secret', '***'), ...(options.release !== undefined && { release: options.release }) });
  const provider = newOpenAiProvider({ baseUrl: simulator.baseUrl, requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 }, { clock: systemClock, log: silentLogger });
  const groups = (): readonly ToolGroup[] => groupTools([...(options.tools ?? []), tool]);
  const run = newChildRunner({
    groups,
    agent: (tools) => {
      const agent = newAgent({ provider, model: 'sim-1', tools, clock, log: silentLogger, maxRetries: 0 });
      return { run: (input, signal) => streamInSession(sessionOfTurn(input), () => agent.run(input, signal)) };
    },
  });
  const tool = delegateTaskTool({ delegations, run, groups, settings });
  let usage = noUsage;
  let beats = 0;
  const context: ToolContext = {
    sessionId,
    turnId: 't1',
    callId: 'c1',
    place: somewhere,
    clock,
    asyncDelivery: true,
    alive: () => void (beats += 1),
    spent: (more) => void (usage = addUsage(usage, more)),
    ask: async () => ({ type: 'unattended' }),
  };
  return {
    simulator,
    delegations,
    tool,
    spent: () => usage,
    alive: () => beats,
    call: async (args, more = {}, signal = new AbortController().signal) => JSON.parse(await tool.run(args, { ...context, ...more }, signal)) as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      await delegations.stop();
      await simulator[Symbol.asyncDispose]();
    },
  };
};
