import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import type { CommandAccess } from '../access/command-access.ts';
import { allowlistSection, approvalsSection } from '../agent/approvals/options.ts';
import { modelSection } from '../agent/models/options.ts';
import { displayOf, displaySection } from '../delivery/display.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { agentSection } from '../sessions/options.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { claimLane, enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { bindSession, boundSession, createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { startTurn } from '../store/sessions/turns.ts';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import type { AfterWork, CommandCall, CommandResult } from './contract.ts';
import { dispatchCommand } from './dispatch.ts';
import { parseCommand } from './parse.ts';
import type { Reach } from './reach.ts';
import { allCommands } from './registry.ts';
import { quickCommandsSection } from './settings.ts';
import type { CommandSettings } from './settings.ts';

export const owner: CommandAccess = { role: 'admin', isOwner: true, mayAdminister: true, mayRun: () => true };

/** Somebody without an admin list over them, whom the owner has not named. */
export const anybody: CommandAccess = { role: 'user', isOwner: false, mayAdminister: false, mayRun: ({ role }) => role !== 'admin' };

/** The settings of an empty configuration file, with these sections put over them. */
export const sampleSettings = (written: Readonly<Record<string, unknown>> = {}): CommandSettings => ({
  agent: agentSection.schema.parse(written['agent']),
  display: displaySection.schema.parse(written['display']),
  model: modelSection.schema.parse(written['model']),
  quick_commands: quickCommandsSection.schema.parse(written['quick_commands']),
  approvals: approvalsSection.schema.parse(written['approvals']),
  command_allowlist: allowlistSection.schema.parse(written['command_allowlist']),
});

export const sampleReach = (more: Partial<Reach> = {}): Reach => ({
  mediaFolder: tmpdir(),
  redact: (text) => text.replaceAll('sk-secret', '***'),
  sendsFiles: () => false,
  listModels: () => Promise.resolve([]),
  childEnvironment: () => ({ PATH: '/usr/bin:/bin' }),
  ...more,
});

export const sessionKey = 'agent:main:telegram:dm:7';
/** What person 7 writes in their direct chat. */
export const ownEvent = sampleEvent({ chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false } });

/** A command as person 7 gives it in their direct chat, in the conversation `s1`; what it wants to do afterwards is dropped. */
export const sampleCall = (more: Partial<CommandCall> = {}): CommandCall => {
  const settings = more.settings ?? sampleSettings();
  const sessionId = more.sessionId ?? 's1';
  return {
    inboxId: 1,
    event: ownEvent,
    agent: 'main',
    sessionKey,
    sessionId,
    lane: turnLane(sessionId),
    args: '',
    nowMs: 0,
    version: '1.2.3',
    defaultBusyMode: 'interrupt',
    queueLimit: 3,
    access: owner,
    surface: 'chat',
    settings,
    display: displayOf(settings.display, telegram),
    commands: allCommands(settings),
    asks: false,
    acted: () => undefined,
    confirmed: false,
    reach: sampleReach(),
    after: () => undefined,
    ...more,
  };
};

/** A conversation of person 7, or of everybody in its chat. */
export const begin = (store: Store, id = 's1', userId: string | undefined = '7'): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm', ...(userId !== undefined && { userId }) });
    await bindSession(tx, { sessionKey, sessionId: id, target: sampleTarget({ chatId: '7' }) });
  });

/** Exchanges of the conversation `s1`. */
export const talk = (store: Store, ...texts: readonly string[]): Promise<void> =>
  store.write(async (tx) => {
    for (const text of texts) {
      await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'user', content: text });
      await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'assistant', content: `re: ${text}` });
    }
  });

/** Messages that wait in the conversation `s1`. */
export const wait = (store: Store, ...texts: readonly string[]): Promise<void> =>
  store.write(async (tx) => {
    for (const text of texts) {
      await enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' });
      await insertInboxItem(tx, { event: sampleEvent({ text }), class: 'chat', decisions: [], place: { lane: turnLane('s1'), sessionId: 's1', sessionKey } });
    }
  });

/** A turn of `s1` that somebody is at work on. */
export const run = (store: Store): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' });
    await claimLane(tx, { lane: turnLane('s1'), owner: 'a', leaseMs: 60_000 });
    return startTurn(tx, { sessionId: 's1', lane: turnLane('s1'), target: sampleTarget() });
  });

/** Gives a command where the place stands now; answers what came of it and what it wants to do afterwards. */
export const dispatchTo = async (store: Store, text: string, more: Partial<CommandCall> = {}): Promise<{ readonly result: CommandResult; readonly works: readonly AfterWork[] }> => {
  const parsed = parseCommand(text);
  assert.ok(parsed !== undefined, text);
  return store.write(async (tx) => {
    const works: AfterWork[] = [];
    const { sessionId = 's1' } = (await boundSession(tx, sessionKey)) ?? {};
    const result = await dispatchCommand(tx, parsed, sampleCall({ sessionId, after: (work) => void works.push(work), ...more }));
    return { result, works };
  });
};

const never = new AbortController().signal;

/** What the chat is told at once and, a line below, by what the command does afterwards. A question begins with ASKS. */
export const give = async (store: Store, text: string, more: Partial<CommandCall> = {}): Promise<string> => {
  const { result, works } = await dispatchTo(store, text, more);
  const said = [result.type === 'answer' ? result.text : `ASKS ${result.question.text}`];
  for (const work of works) {
    const done = await work({ store, clock: systemClock, log: silentLogger, signal: never });
    said.push(typeof done === 'string' ? done : `${done.text} ${JSON.stringify(done.media)}`);
  }
  return said.filter((part) => part !== '').join('\n');
};
