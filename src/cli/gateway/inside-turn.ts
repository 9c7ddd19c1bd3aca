import { ConfigError } from '../../core/errors.ts';
import { withoutAnchor } from '../../delivery/compose.ts';
import { turnLane } from '../../store/lanes/lanes.ts';
import { addDecisions, hasDecision, turnItems } from '../../store/messages/inbox.ts';
import { isRestartMarked, markRestart } from '../../store/messages/restart-marks.ts';
import { boundSession } from '../../store/sessions/sessions.ts';
import { unfinishedTurn } from '../../store/sessions/turns.ts';
import type { UnfinishedTurn } from '../../store/sessions/turns.ts';
import type { Writing } from '../../store/store.ts';
import type { Terminal } from '../environment.ts';
import { withStore } from '../home/open-home.ts';
import { leaveWish } from './end-wish.ts';
import type { EndWish } from './end-wish.ts';
import { gatewayMarker } from './gateway-marker.ts';
import { holderOf } from './process.ts';

/** The number of the gateway of this home if it has started this program, for a tool, a hook or a job. */
const gatewayAround = (terminal: Terminal, home: string): number | undefined => {
  const marked = Number(terminal.env[gatewayMarker] ?? '');
  if (!Number.isInteger(marked) || marked < 1) return undefined;
  const holder = holderOf(home);
  return holder.type === 'gateway' && holder.pid === marked ? marked : undefined;
};

/** The turn that waits for this program. That of a helper belongs to whoever has the helper. */
const turnAround = async (tx: Writing, terminal: Terminal): Promise<UnfinishedTurn | undefined> => {
  const own = terminal.env['HERMES_SESSION_ID'] ?? '';
  const key = terminal.env['HERMES_SESSION_KEY'] ?? '';
  const found = own === '' ? undefined : await unfinishedTurn(tx, turnLane(own));
  if (found !== undefined || key === '') return found;
  const bound = await boundSession(tx, key);
  return bound === undefined ? undefined : unfinishedTurn(tx, turnLane(bound.sessionId));
};

/** Keeps who is to be told when the gateway is back. False when it has started anew for this turn before. */
const markTurn = async (tx: Writing, turn: UnfinishedTurn): Promise<boolean> => {
  const inboxId = (await turnItems(tx, turn.id)).at(-1)?.id;
  if (inboxId === undefined || (await isRestartMarked(tx, inboxId))) return true;
  if (await hasDecision(tx, inboxId, 'restart')) return false;
  await markRestart(tx, { inboxId, target: withoutAnchor(turn.target) });
  await addDecisions(tx, [inboxId], [{ step: 'restart', verdict: 'asked for from inside the turn' }]);
  return true;
};

const sentences: Readonly<Record<EndWish['end'], (home: string, when: string) => string>> = {
  restart: (home, when) => `The gateway of ${home} starts anew ${when}. Nothing has to be repeated.`,
  stop: (home, when) => `The gateway of ${home} ends ${when}. Its owner can start it again.`,
};

/**
 * Has the gateway around this program end once the turn is over that runs the program: waiting for the end here would keep the turn from its own. Answers
 * what to say about it; undefined for whoever stands outside.
 */
export const endAfterTurn = async (terminal: Terminal, home: string, end: EndWish['end']): Promise<string | undefined> => {
  const pid = gatewayAround(terminal, home);
  if (pid === undefined) return undefined;
  const { turnId, again } = await withStore({ ...terminal, env: { ...terminal.env, HERMES_HOME: home } }, (store) =>
    store.write(async (tx) => {
      const turn = await turnAround(tx, terminal);
      return { turnId: turn?.id, again: end === 'restart' && turn !== undefined && !(await markTurn(tx, turn)) };
    }),
  );
  if (again) return `The gateway of ${home} has started anew in this turn already, and does so once.`;
  await leaveWish(home, pid, { end, ...(turnId !== undefined && { turnId }) });
  return sentences[end](home, turnId === undefined ? 'in a moment' : 'when this turn has ended');
};

/** Refuses what would have to end the gateway that this program itself belongs to. */
export const refuseInside = (terminal: Terminal, home: string, what: string): void => {
  if (gatewayAround(terminal, home) === undefined) return;
  throw new ConfigError(`${what} cannot be run by the gateway of ${home} itself, because it would end what runs it. Run it in a terminal outside; hermes gateway restart works from here, when the turn has ended.`);
};
