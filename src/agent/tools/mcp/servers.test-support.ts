import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer, Question } from '../../../core/question.ts';
import { manualClock } from '../../../lib/clock.ts';
import type { ManualClock } from '../../../lib/clock.ts';
import { capturingLogger } from '../../../lib/logger.ts';
import { somewhere } from '../../turn.test-support.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { mcpSection } from './options.ts';
import type { McpServerOptions } from './options.ts';
import type { McpDeps } from './servers.ts';
import { McpServers } from './servers.ts';
import { until } from '../../../../test/support/until.ts';

export { until };

/** Settings of one server as the owner would write them. */
export const serverSettings = (written: object): McpServerOptions => {
  const options = mcpSection.schema.parse({ it: written })['it'];
  assert.ok(options !== undefined);
  return options;
};

export interface Bench extends AsyncDisposable {
  readonly home: string;
  readonly clock: ManualClock;
  readonly servers: McpServers;
  readonly lines: readonly string[];
  configure(servers: Readonly<Record<string, object>>): Promise<void>;
  tool(name: string): Tool;
  names(): readonly string[];
  state(server: string): string;
  /** Until a server is in this state. */
  reach(server: string, state: string): Promise<void>;
  call(name: string, args?: object, more?: { readonly context?: Partial<ToolContext>; readonly signal?: AbortSignal }): Promise<string>;
  /** Another set of servers on the same home, as after a restart. */
  again(): McpServers;
}

const refuseToAnswer = async (_question: Question): Promise<Answer> => ({ type: 'unattended' });

export const newBench = async (more: Partial<McpDeps> = {}): Promise<Bench> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-mcp-'));
  const clock = manualClock();
  const { log, lines } = capturingLogger();
  const deps: McpDeps = { home, version: '1.2.3', clock, log, redact: (text) => text.replaceAll('sesame', '***'), environment: () => ({ LANG: 'C' }), random: () => 1, ...more };
  const opened = [new McpServers(deps)];
  const [servers] = opened;
  assert.ok(servers !== undefined);
  const tools = (): readonly Tool[] => servers.groups().flatMap((group) => group.tools);
  const tool = (name: string): Tool => {
    const found = tools().find(({ definition }) => definition.name === name);
    assert.ok(found !== undefined, `no tool ${name}`);
    return found;
  };
  const state = (server: string): string => servers.report().find(({ name }) => name === server)?.status.state ?? 'unknown';
  return {
    home,
    clock,
    servers,
    lines,
    configure: (wanted) => servers.configure(Object.fromEntries(Object.entries(wanted).map(([name, written]) => [name, serverSettings(written)]))),
    tool,
    names: () => tools().map(({ definition }) => definition.name),
    state,
    reach: (server, wanted) => until(() => state(server) === wanted, `${server} to be ${wanted}; it is ${state(server)}\n${lines.join('')}`),
    call: (name, args = {}, { context = {}, signal = new AbortController().signal } = {}) =>
      tool(name).run({ ...args }, { sessionId: 's', turnId: 't', callId: 'c', place: somewhere, clock, asyncDelivery: true, alive: () => undefined, ask: refuseToAnswer, ...context }, signal),
    again: () => {
      const next = new McpServers(deps);
      opened.push(next);
      return next;
    },
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each.close();
      await rm(home, { recursive: true, force: true });
    },
  };
};
