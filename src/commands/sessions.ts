import { searchMessages } from '../store/sessions/search.ts';
import { changeSettings, findSession, listSessions } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { Writing } from '../store/store.ts';
import type { AfterCommit, Command, CommandCall } from './contract.ts';
import { label, mine } from './own-sessions.ts';

const shown = 10;
const mostHits = 100;

/** Numbers the conversations and keeps which number stands for which. */
const show = async (tx: Writing, call: CommandCall, listed: readonly { readonly session: Session; readonly snippet?: string }[]): Promise<string> => {
  const current = await findSession(tx, call.sessionId);
  await changeSettings(tx, call.sessionId, { ...current?.settings, listed: listed.map(({ session }) => session.id) });
  const lines = listed.map(({ session, snippet }, i) => `${i + 1}. ${label(session)}${snippet === undefined ? '' : `\n   “${snippet.replaceAll(/>>>|<<</g, '')}”`}`);
  return [...lines, 'Go back to one with /resume <number>.'].join('\n');
};

const search = async (call: CommandCall, text: string, { store }: AfterCommit): Promise<string> => {
  const hits = await searchMessages(store, { text, limit: mostHits, owner: mine(call) });
  const newest = new Map(hits.toReversed().map((hit) => [hit.sessionId, hit.snippet]));
  return store.write(async (tx) => {
    const titled = (await listSessions(tx, { limit: shown, ...mine(call), titleContains: text })).map((session) => ({ session }));
    const found: { session: Session; snippet?: string }[] = [...titled];
    for (const [sessionId, snippet] of [...newest].toReversed()) {
      const session = titled.some((one) => one.session.id === sessionId) ? undefined : await findSession(tx, sessionId);
      if (session !== undefined) found.push({ session, snippet });
    }
    return found.length === 0 ? `No conversation of yours has “${text.slice(0, 80)}” in it.` : show(tx, call, found.slice(0, shown));
  });
};

export const sessions: Command = {
  name: 'sessions',
  aliases: [],
  category: 'Session',
  description: 'List your earlier conversations, or search in them',
  args: '[words to search for]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const text = call.args.replace(/^search(\s+|$)/i, '');
    if (text !== '') {
      call.after((after) => search(call, text, after));
      return '';
    }
    const others = (await listSessions(tx, { limit: shown + 1, ...mine(call) })).filter((session) => session.id !== call.sessionId).slice(0, shown);
    return others.length === 0 ? 'There is no earlier conversation of yours.' : show(tx, call, others.map((session) => ({ session })));
  },
};
