import { commandAccess, noAccess } from '../access/command-access.ts';
import type { CommandAccess } from '../access/command-access.ts';
import type { AfterWork, CommandAct, CommandResult } from '../commands/contract.ts';
import { dispatchCommand } from '../commands/dispatch.ts';
import type { Confirmation } from '../commands/dispatch.ts';
import { parseCommand } from '../commands/parse.ts';
import { readCommand } from '../commands/read-command.ts';
import type { Reach } from '../commands/reach.ts';
import { allCommands } from '../commands/registry.ts';
import { newId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { parseSessionKey } from '../core/session-key.ts';
import { enqueueText } from '../delivery/compose.ts';
import { displayOf } from '../delivery/display.ts';
import { enqueueQuestion } from '../delivery/question-message.ts';
import type { Platform } from '../platforms/contract.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import { beginWork } from '../store/agents/command-work.ts';
import type { InboxItem } from '../store/messages/inbox.ts';
import { closeItem, findControlItem, findItem, openControlItems } from '../store/messages/inbox.ts';
import { turnLane } from '../store/lanes/lanes.ts';
import { answeredBy, keepQuestion, useAnswer } from '../store/agents/questions.ts';
import { boundSession, lockSessionKey } from '../store/sessions/sessions.ts';
import type { Writing } from '../store/store.ts';
import { busyModeOf } from './admit.ts';
import type { InboxDeps } from './arrival.ts';
import { CommandWorks } from './command-works.ts';
import type { PlannedWork } from './command-works.ts';
import { placeOfEvent } from './hooks/contexts.ts';
import { changesSince, tellSessionChanges } from './hooks/session-changes.ts';
import type { SessionChange } from './hooks/session-changes.ts';
import { whoSaid } from './who-said.ts';

export interface ControlDeps extends Omit<InboxDeps, 'onControl' | 'order' | 'targets' | 'continuations'> {
  readonly version: string;
  /** This gateway's node. */
  readonly owner: string;
  readonly reach: Reach;
  platform(account: string): Platform | undefined;
  /** Writes down what an admin does. */
  audit?(act: AuditedAct): void;
  /** Whether people are asked before a command makes them lose something. */
  asks(): boolean;
}

/** Decided anew when the command runs: lists may have changed since it was stored. An account that is gone gives nobody a right. */
const accessOf = (deps: ControlDeps, event: InboundEvent): CommandAccess => {
  const known = deps.account(event.account);
  if (known === undefined) return noAccess;
  const userIds = [event.sender.id, ...(event.sender.altId === undefined ? [] : [event.sender.altId])];
  return commandAccess({ rules: known.common, chatType: event.chat.type, userIds, authenticated: known.platform.authenticatesSenders });
};

/** A command that was given, and what was said when it was asked about. */
interface Given {
  readonly item: InboxItem;
  readonly platform: Platform;
  readonly confirmed: Exclude<Confirmation, 'no'> | undefined;
}

/** The command that an inbox row gives: by its own text, or by saying yes to one that was asked about. */
const givenBy = async (deps: ControlDeps, tx: Writing, row: InboxItem): Promise<Given | undefined> => {
  const question = await answeredBy(tx, row.id);
  const asked = question?.purpose.type === 'command' ? question.purpose.inboxId : undefined;
  if (question !== undefined && !(await useAnswer(tx, question.id))) return undefined;
  const item = asked === undefined ? row : await findItem(tx, asked);
  const platform = item === undefined ? undefined : deps.platform(item.event.account);
  const said = question?.answer?.value;
  if (item === undefined || platform === undefined || said === 'no') return undefined;
  return { item, platform, confirmed: said === undefined ? undefined : said === 'always' ? 'always' : 'yes' };
};

/** What a command leaves for the time after its transaction. */
interface Left {
  readonly works: AfterWork[];
  readonly acts: CommandAct[];
}

const perform = async (deps: ControlDeps, tx: Writing, given: Given, left: Left): Promise<CommandResult | undefined> => {
  const { item, platform, confirmed } = given;
  const settings = deps.settings();
  const agent = parseSessionKey(item.sessionKey)?.agent ?? 'main';
  const commands = allCommands(settings, deps.reach.skills?.(agent)?.shelf.skills);
  const parsed = readCommand(item.event, platform, () => commands);
  if (parsed === undefined) return undefined;
  await lockSessionKey(tx, item.sessionKey);
  // A command that came before may have moved the place to another conversation.
  const sessionId = (await boundSession(tx, item.sessionKey))?.sessionId ?? item.sessionId;
  return dispatchCommand(tx, parsed, {
    inboxId: item.id,
    event: item.event,
    agent,
    sessionKey: item.sessionKey,
    sessionId,
    lane: turnLane(sessionId),
    nowMs: deps.clock.now(),
    version: deps.version,
    defaultBusyMode: busyModeOf(deps, { settings: {}, account: item.event.account }),
    queueLimit: settings.agent.queue_limit,
    access: accessOf(deps, item.event),
    surface: platform.surface ?? 'chat',
    settings,
    display: displayOf(settings.display, platform),
    commands,
    asks: deps.asks() && platform.asyncDelivery,
    confirmed: confirmed !== undefined,
    reach: deps.reach,
    after: (work) => void left.works.push(work),
    acted: (act) => void left.acts.push(act),
  });
};

const confirmSetting = 'approvals.destructive_slash_confirm';

/** "Never ask again" is written down, and said when that did not work. */
const stopAsking = (reach: Reach): AfterWork => async () => {
  const problem = await reach.changeSetting?.(confirmSetting, 'false');
  return problem === undefined ? '' : `⚠️ I will ask again, for this was not written: ${problem}`;
};

const respond = async (tx: Writing, { item, platform }: Given, result: CommandResult): Promise<void> => {
  const target = replyTarget(item.event);
  switch (result.type) {
    case 'answer':
      if (result.text !== '') await enqueueText(tx, platform, { key: `command:${item.id}`, target, text: result.text, secret: result.secret, inboxId: item.id });
      return;
    case 'ask': {
      const asked = { key: `command:${item.id}`, sessionId: item.sessionId, target, askerId: item.event.sender.id, question: result.question, purpose: { type: 'command', inboxId: item.id } } as const;
      const { question, isNew } = await keepQuestion(tx, asked);
      if (isNew) await enqueueQuestion(tx, platform, question);
      return;
    }
    default:
      throw result satisfies never;
  }
};

/** What a command leaves behind: work to do, and conversations that it has begun or ended. */
interface CarriedOut {
  readonly item: InboxItem;
  readonly planned: PlannedWork | undefined;
  readonly changes: readonly SessionChange[];
  /** Administrative ones among what was done. */
  readonly acts: readonly CommandAct[];
}

/** Effect, answer and inbox state of a command in one transaction: it happens once, also when the process ends in the middle. Answers what is left to do. */
const carryOut = (deps: ControlDeps, row: InboxItem): Promise<CarriedOut | undefined> =>
  deps.store.write(async (tx) => {
    if (!(await closeItem(tx, row.id, 'command'))) return undefined;
    const given = await givenBy(deps, tx, row);
    if (given === undefined) return undefined;
    const { item, platform } = given;
    const left: Left = { works: [], acts: [] };
    const { works, acts } = left;
    const before = (await boundSession(tx, item.sessionKey))?.sessionId ?? item.sessionId;
    const result = await perform(deps, tx, given, left);
    if (result === undefined) return undefined;
    await respond(tx, given, result);
    const changes = await changesSince(tx, item.sessionKey, before);
    if (given.confirmed === 'always') works.push(stopAsking(deps.reach));
    if (works.length === 0) return { item, planned: undefined, changes, acts };
    await beginWork(tx, { inboxId: item.id, command: item.event.text.trim().split(/\s/, 1)[0]?.slice(0, 40) ?? '', owner: deps.owner });
    return { item, planned: { item, platform, works }, changes, acts };
  });

const failed = async (deps: ControlDeps, row: InboxItem, error: unknown): Promise<void> => {
  const errorId = newId('err', deps.clock.now());
  deps.log.error({ err: error, inbox: row.id, error_id: errorId }, 'command.failed');
  await deps.store.write(async (tx) => {
    const platform = deps.platform(row.event.account);
    if (!(await closeItem(tx, row.id, 'command failed')) || platform === undefined) return;
    await enqueueText(tx, platform, { key: `command:${row.id}`, target: replyTarget(row.event), text: `⚠️ That command failed (${errorId}).`, inboxId: row.id });
  });
};

/** Commands never wait for a turn. Those of one process run in the order in which they came; what they do afterwards holds up nobody. */
export class ControlLane {
  readonly #deps: ControlDeps;
  readonly #works: CommandWorks;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: ControlDeps) {
    this.#deps = deps;
    this.#works = new CommandWorks(deps);
  }

  /** Resolves when the command was carried out, or could not be and waits to be recovered. */
  submit(inboxId: number): Promise<void> {
    this.#last = this.#last.then(() => this.#one(inboxId));
    return this.#last;
  }

  /** Carries out what an ended process left behind, and tells about what it can no longer end. */
  async recover(): Promise<void> {
    const { store, account } = this.#deps;
    const open = await store.read((db) => openControlItems(db, 1000));
    // Gateways that share a database may have different accounts, and only where one is known can be said what people may do there.
    const ours = store.engine === 'sqlite' ? open : open.filter(({ event }) => account(event.account) !== undefined);
    await Promise.all(ours.map((item) => this.submit(item.id)));
    await this.#works.recover();
  }

  /** Lets what was given be carried out, and cuts off what commands are still doing. */
  async stop(): Promise<void> {
    await this.#last;
    await this.#works.stop();
  }

  async #one(inboxId: number): Promise<void> {
    const { store, log } = this.#deps;
    try {
      const row = await store.read((db) => findControlItem(db, inboxId));
      if (row === undefined) return;
      try {
        const done = await carryOut(this.#deps, row);
        log.info({ inbox: row.id, account: row.event.account, chat: row.event.chat.id, user: row.event.sender.id, command: parseCommand(row.event.text)?.name }, 'command.done');
        if (done === undefined) return;
        if (done.planned !== undefined) this.#works.begin(done.planned);
        const { event, sessionKey } = done.item;
        for (const act of done.acts) this.#deps.audit?.({ by: whoSaid(event), subject: event.chat.id, ...act });
        tellSessionChanges(this.#deps.hooks, { ...placeOfEvent(event, parseSessionKey(sessionKey)?.agent ?? 'main'), session_key: sessionKey }, done.changes);
      } catch (error) {
        await failed(this.#deps, row, error);
      }
    } catch (error) {
      log.error({ err: error, inbox: inboxId }, 'command.not_carried_out');
    }
  }
}
