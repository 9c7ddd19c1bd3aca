import type { HonchoOptions } from '../options.ts';
import type { MemoryProvider, MemorySession, RememberedTurn } from '../provider.ts';
import { newHonchoApi } from './api.ts';
import { honchoName } from './names.ts';
import { honchoToolSchemas, runHonchoTool } from './tools.ts';
import type { HonchoPlace } from './tools.ts';
import type { NewMessage } from './wire.ts';

/** Honcho refuses longer messages (MAX_MESSAGE_SIZE, 25,000 characters when nobody changed it). */
const maxMessageChars = 20_000;
const maxRecallLines = 40;
const mainAgent = 'main';

const pieces = (text: string): readonly string[] => {
  const out: string[] = [];
  for (let at = 0; at < text.length; at += maxMessageChars) out.push(text.slice(at, at + maxMessageChars).toWellFormed());
  return out;
};

const messagesOf = (turn: RememberedTurn, by: { readonly person: string; readonly agent: string }): readonly NewMessage[] => {
  const said = [...pieces(turn.user).map((content) => ({ peer: by.person, content })), ...pieces(turn.assistant).map((content) => ({ peer: by.agent, content }))];
  const created_at = new Date(turn.atMs).toISOString();
  return said.map(({ peer, content }, part) => ({ peer_id: peer, content, created_at, metadata: { hermes_key: turn.key, hermes_part: part } }));
};

const about = (session: MemorySession): Readonly<Record<string, string>> => ({
  platform: session.platform,
  account: session.account,
  agent: session.agent,
  ...(session.userName !== undefined && { user_name: session.userName }),
});

const recalled = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `${title}\n${lines.slice(0, maxRecallLines).join('\n')}`);

/** Remembers in a Honcho server: what is said goes there, and what it concludes about a person comes back. */
export const newHonchoProvider = (options: HonchoOptions, agent: string): MemoryProvider => {
  const api = newHonchoApi(options, agent === mainAgent ? options.workspace : honchoName(options.workspace, agent));
  const self = honchoName('agent', agent);
  /** In a shared conversation everybody is one peer of that conversation alone: what was said there is nobody's private memory. */
  const personOf = (session: MemorySession): string => (session.userId === undefined ? honchoName('people', session.sessionId) : honchoName('user', session.account, session.userId));
  const placeOf = (session: MemorySession): HonchoPlace => ({ sessionId: honchoName(session.sessionId), person: personOf(session), isPrivate: session.isPrivate });

  return {
    name: 'honcho',
    isAvailable: () => options.api_key !== undefined || new URL(options.base_url).hostname !== 'api.honcho.dev',
    systemPromptBlock:
      'A memory service (Honcho) follows your conversations and builds a picture of the people in them. What it thinks may help comes with their messages, marked as recalled. `honcho_search` and `honcho_context` look for more; `honcho_conclude` records a lasting fact.',
    toolSchemas: honchoToolSchemas,
    async initialize(session, signal) {
      const { sessionId, person } = placeOf(session);
      await api.openSession({ id: sessionId, metadata: about(session), peers: { [person]: { observe_me: true, observe_others: false }, [self]: { observe_me: false, observe_others: false } } }, signal);
    },
    handleToolCall: (call, session, signal) => runHonchoTool(call, { api, place: placeOf(session), signal }),
    async prefetch(query, session, signal) {
      const { sessionId, person, isPrivate } = placeOf(session);
      if (isPrivate) {
        const context = await api.peerContext(person, query, signal);
        return [recalled('Profile:', context.peer_card ?? []), context.representation?.trim() ?? ''].filter((part) => part !== '').join('\n\n');
      }
      const context = await api.sessionContext(sessionId, person, query, signal);
      return [context.summary?.content ?? '', context.peer_representation?.trim() ?? ''].filter((part) => part !== '').join('\n\n');
    },
    async syncTurn(turn, session, signal) {
      const { sessionId, person } = placeOf(session);
      const messages = messagesOf(turn, { person, agent: self });
      // The first try may have arrived although its answer did not.
      const there = turn.repeated ? await api.countMessages(sessionId, { hermes_key: turn.key }, signal) : 0;
      if (there < messages.length) await api.addMessages(sessionId, messages.slice(there), signal);
    },
    onSessionEnd: (end, session, signal) => api.describeSession(placeOf(session).sessionId, { ...about(session), ended: new Date(end.atMs).toISOString(), end_reason: end.reason }, signal),
    async onMemoryWrite(write, session, signal) {
      if (write.target === 'user' && write.action === 'add' && session.isPrivate) await api.addConclusion(personOf(session), { content: write.content, sessionId: placeOf(session).sessionId }, signal);
    },
    shutdown: async () => undefined,
  };
};
