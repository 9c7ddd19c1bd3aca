import { commandAccess } from '../access/command-access.ts';
import type { CommandAccess } from '../access/command-access.ts';
import type { CommandAnswer, CommandCall } from '../commands/contract.ts';
import { dispatchCommand } from '../commands/dispatch.ts';
import { parseCommand } from '../commands/parse.ts';
import { newId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { parseSessionKey } from '../core/session-key.ts';
import { enqueueText } from '../delivery/compose.ts';
import type { Platform } from '../platforms/contract.ts';
import type { InboxItem } from '../store/inbox.ts';
import { closeItem, findControlItem, openControlItems } from '../store/inbox.ts';
import { turnLane } from '../store/lanes.ts';
import { boundSession, lockSessionKey } from '../store/sessions.ts';
import type { Writing } from '../store/store.ts';
import type { InboxDeps } from './arrival.ts';
import { busyModeOf } from './admit.ts';

export interface ControlDeps extends Omit<InboxDeps, 'onControl'> {
  readonly version: string;
  platform(account: string): Platform | undefined;
}

/** Decided anew when the command runs: lists may have changed since it was stored. An account that is gone gives nobody a right. */
const accessOf = (deps: ControlDeps, event: InboundEvent): CommandAccess => {
  const known = deps.account(event.account);
  if (known === undefined) return { role: 'user', isOwner: false, mayPair: false, mayRun: () => false };
  const userIds = [event.sender.id, ...(event.sender.altId === undefined ? [] : [event.sender.altId])];
  return commandAccess({ rules: known.common, chatType: event.chat.type, userIds, authenticated: known.platform.authenticatesSenders });
};

const callFor = (deps: ControlDeps, item: InboxItem, at: { sessionId: string; args: string }): CommandCall => ({
  inboxId: item.id,
  event: item.event,
  agent: parseSessionKey(item.sessionKey)?.agent ?? 'main',
  sessionKey: item.sessionKey,
  sessionId: at.sessionId,
  lane: turnLane(at.sessionId),
  args: at.args,
  nowMs: deps.clock.now(),
  version: deps.version,
  defaultBusyMode: busyModeOf(deps, { settings: {}, account: item.event.account }),
  queueLimit: deps.settings().agent.queue_limit,
  access: accessOf(deps, item.event),
});

const answer = async (deps: ControlDeps, tx: Writing, item: InboxItem, { text, secret }: CommandAnswer): Promise<void> => {
  const platform = deps.platform(item.event.account);
  if (platform === undefined || text === '') return;
  await enqueueText(tx, platform, { key: `command:${item.id}`, target: replyTarget(item.event), text, secret, inboxId: item.id });
};

/** Effect, answer and inbox state of a command in one transaction: it happens once, also when the process ends in the middle. */
const carryOut = async (deps: ControlDeps, item: InboxItem): Promise<void> => {
  const parsed = parseCommand(item.event.text);
  try {
    await deps.store.write(async (tx) => {
      if (!(await closeItem(tx, item.id, 'command')) || parsed === undefined) return;
      await lockSessionKey(tx, item.sessionKey);
      // A command that came before may have moved the place to another conversation.
      const sessionId = (await boundSession(tx, item.sessionKey))?.sessionId ?? item.sessionId;
      await answer(deps, tx, item, await dispatchCommand(tx, parsed, callFor(deps, item, { sessionId, args: parsed.args })));
    });
    deps.log.info({ inbox: item.id, account: item.event.account, chat: item.event.chat.id, user: item.event.sender.id, command: parsed?.name }, 'command.done');
  } catch (error) {
    const errorId = newId('err', deps.clock.now());
    deps.log.error({ err: error, inbox: item.id, command: parsed?.name, error_id: errorId }, 'command.failed');
    await deps.store.write(async (tx) => {
      if (await closeItem(tx, item.id, 'command failed')) await answer(deps, tx, item, { text: `⚠️ That command failed (${errorId}).`, secret: false });
    });
  }
};

/** Commands never wait for a turn. Those of one process run in the order in which they came. */
export class ControlLane {
  readonly #deps: ControlDeps;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: ControlDeps) {
    this.#deps = deps;
  }

  /** Resolves when the command was carried out, or could not be and waits to be recovered. */
  submit(inboxId: number): Promise<void> {
    this.#last = this.#last.then(() => this.#one(inboxId));
    return this.#last;
  }

  /** Carries out what an ended process left behind. */
  async recover(): Promise<void> {
    const open = await this.#deps.store.read((db) => openControlItems(db, 1000));
    await Promise.all(open.map((item) => this.submit(item.id)));
  }

  idle(): Promise<void> {
    return this.#last;
  }

  async #one(inboxId: number): Promise<void> {
    try {
      const item = await this.#deps.store.read((db) => findControlItem(db, inboxId));
      if (item !== undefined) await carryOut(this.#deps, item);
    } catch (error) {
      this.#deps.log.error({ err: error, inbox: inboxId }, 'command.not_carried_out');
    }
  }
}
