import { z } from 'zod';
import type { Said, Sight } from '../../store/sessions/past-sessions.ts';
import { recentInSight, saidIn, sessionInSight, sightFrom } from '../../store/sessions/past-sessions.ts';
import { searchMessages } from '../../store/sessions/search.ts';
import type { SearchHit } from '../../store/sessions/search.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { withoutRecall } from '../memory/recall.ts';
import type { Tool, ToolContext } from './contract.ts';
import { ToolError } from './contract.ts';
import { defineTool } from './define-tool.ts';

const args = z.object({
  query: z.string().trim().max(2000).optional().describe('Words to look for; all of them have to be in one message. Leave it out to list recent conversations, or with session_id to read one.'),
  session_id: z.string().trim().max(80).optional().describe('Read this conversation: its beginning and its end, what is around a message, or with query what is found in it.'),
  around_message_id: z.int().min(1).optional().describe('With session_id: show what was said around this message. Use the first or last number shown to go on from there.'),
  window: z.int().min(1).max(40).default(10).describe('With around_message_id: how many messages before and after it.'),
  limit: z.int().min(1).max(20).optional().describe('How many conversations; 3 when looking for words, 10 when listing.'),
  role_filter: z.enum(['user,assistant', 'user', 'assistant']).default('user,assistant').describe('With query: only what people said, or only what you said.'),
  sort: z.enum(['newest', 'oldest']).default('newest').describe('With query: which end of time to begin at.'),
  detail: z.enum(['adaptive', 'full']).default('adaptive').describe('full: longer pieces of each message.'),
});

type Args = z.output<typeof args>;

const description = `Looks into earlier conversations, also such as no longer fit into this one. With \`query\`: finds messages and shows what was said around them. With \`session_id\`: reads that conversation. With neither: lists recent ones. Use it when somebody refers to something from before, instead of asking them to repeat it.`;

const defaultFound = 3;
const defaultListed = 10;
const hitsLookedAt = 100;
const hitsShown = 20;
const around = 5;
const ends = 3;
const readHead = 8;
const readTail = 24;
const shortChars = 300;
const fullChars = 2000;
const maxOutputChars = 30_000;

interface Scene {
  readonly store: Store;
  readonly sight: Sight;
  readonly args: Args;
  readonly currentId: string;
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

const shown = ({ id, role, content, lengthChars, createdAtMs }: Said, detail: Args['detail']): string => {
  const room = detail === 'full' ? fullChars : shortChars;
  const text = withoutRecall(content).replaceAll(/\s*\n\s*/g, ' ⏎ ').trim();
  return `#${id} ${day(createdAtMs)} ${role === 'user' ? 'person' : 'you'}: ${text.length > room ? `${text.slice(0, room).toWellFormed()}… [${lengthChars} characters]` : text}`;
};

const lines = (said: readonly Said[], detail: Args['detail']): readonly string[] => said.map((message) => shown(message, detail));

const heading = (session: Session, currentId: string): string =>
  `## ${session.id}${session.title === null ? '' : ` “${session.title}”`}${session.id === currentId ? ' (this conversation)' : ''}, ${day(session.createdAtMs)} to ${day(session.activeAtMs)}, ${session.messageCount} messages`;

/** What must not be shown twice is left out where it was shown before. */
const without = (said: readonly Said[], seen: readonly Said[]): readonly Said[] => said.filter(({ id }) => seen.every((other) => other.id !== id));

const find = async ({ store, sight, args: { role_filter, sort, query = '' } }: Scene, sessionId?: string): Promise<readonly SearchHit[]> =>
  searchMessages(store, { text: query, limit: hitsLookedAt, sight, oldestFirst: sort === 'oldest', ...(role_filter !== 'user,assistant' && { role: role_filter }), ...(sessionId !== undefined && { sessionId }) });

const showHit = async ({ store, sight, args: { detail }, currentId }: Scene, hit: SearchHit): Promise<string> =>
  store.read(async (db) => {
    const session = await sessionInSight(db, sight, hit.sessionId);
    if (session === undefined) return '';
    const middle = [...(await saidIn(db, session.id, { beforeId: hit.messageId, limit: around })), ...(await saidIn(db, session.id, { fromId: hit.messageId, limit: around + 1 }))];
    const first = without(await saidIn(db, session.id, { fromId: 0, limit: ends }), middle);
    const last = without(await saidIn(db, session.id, { beforeId: Number.MAX_SAFE_INTEGER, limit: ends }), [...middle, ...first]);
    const part = (said: readonly Said[], title: string): readonly string[] => (said.length === 0 ? [] : [title, ...lines(said, detail)]);
    return [heading(session, currentId), `Found in #${hit.messageId}: ${hit.snippet}`, ...part(first, 'It began:'), ...part(middle, 'Around it:'), ...part(last, 'It ended:')].join('\n');
  });

const nothing = 'Nothing was found. All words have to be in one message: try fewer, or other ones.';

const search = async (scene: Scene): Promise<string> => {
  const hits = await find(scene);
  const best = hits.filter((hit, index) => hits.findIndex(({ sessionId }) => sessionId === hit.sessionId) === index);
  if (best.length === 0) return nothing;
  const limit = scene.args.limit ?? defaultFound;
  const blocks: string[] = [];
  for (const hit of best.slice(0, limit)) blocks.push(await showHit(scene, hit));
  return [...blocks, ...(best.length > limit ? [`${best.length - limit} more conversations match.`] : [])].join('\n\n');
};

const searchOne = async (scene: Scene, session: Session): Promise<string> => {
  const hits = await find(scene, session.id);
  if (hits.length === 0) return nothing;
  return [heading(session, scene.currentId), ...hits.slice(0, hitsShown).map((hit) => `#${hit.messageId} ${day(hit.createdAtMs)} ${hit.role === 'user' ? 'person' : 'you'}: ${hit.snippet}`)].join('\n');
};

const readable = async ({ store, sight, args: { session_id = '' } }: Scene): Promise<Session> => {
  const session = await store.read((db) => sessionInSight(db, sight, session_id));
  if (session === undefined) throw new ToolError('bad_arguments', 'There is no such conversation that you may read here. List recent ones by calling this without arguments.');
  return session;
};

const read = async ({ store, args: { around_message_id, window, detail }, currentId }: Scene, session: Session): Promise<string> =>
  store.read(async (db) => {
    if (around_message_id !== undefined) {
      const said = [...(await saidIn(db, session.id, { beforeId: around_message_id, limit: window })), ...(await saidIn(db, session.id, { fromId: around_message_id, limit: window + 1 }))];
      return [heading(session, currentId), ...(said.length === 0 ? ['Nothing was said there.'] : lines(said, detail))].join('\n');
    }
    const head = await saidIn(db, session.id, { fromId: 0, limit: readHead });
    const tail = without(await saidIn(db, session.id, { beforeId: Number.MAX_SAFE_INTEGER, limit: readTail }), head);
    const gap = tail.length === readTail ? ['[… use around_message_id for what is in between …]'] : [];
    return [heading(session, currentId), ...lines(head, detail), ...gap, ...lines(tail, detail)].join('\n');
  });

const list = async ({ store, sight, args: { limit = defaultListed }, currentId }: Scene): Promise<string> =>
  store.read(async (db) => {
    const sessions = (await recentInSight(db, sight, limit + 1)).filter(({ id }) => id !== currentId).slice(0, limit);
    if (sessions.length === 0) return 'There is no earlier conversation.';
    const blocks: string[] = [];
    for (const session of sessions) blocks.push([heading(session, currentId), ...lines(await saidIn(db, session.id, { fromId: 0, limit: 1 }), 'adaptive')].join('\n'));
    return blocks.join('\n\n');
  });

const bounded = (text: string): string => (text.length <= maxOutputChars ? text : `${text.slice(0, maxOutputChars).toWellFormed()}\n[… cut; ask for less at once …]`);

const sightOf = async (store: Store, { sessionId, place }: ToolContext): Promise<Sight> => {
  const sight = await store.read((db) => sightFrom(db, { sessionId, target: place.target, ...(place.sender !== undefined && { userId: place.sender.id }) }));
  if (sight === undefined) throw new ToolError('unavailable', 'This conversation is not stored, so there is nothing to look into.');
  return sight;
};

/** Looks into earlier conversations: the person's own, and in a conversation of several people those that were held in the same place. */
export const sessionSearchTool = (store: Store): Tool =>
  defineTool({
    name: 'session_search',
    description,
    args,
    parallelSafe: true,
    async run(given, context) {
      const scene: Scene = { store, sight: await sightOf(store, context), args: given, currentId: context.sessionId };
      const looksForWords = given.query !== undefined && given.query !== '';
      if (given.session_id === undefined || given.session_id === '') return bounded(looksForWords ? await search(scene) : await list(scene));
      const session = await readable(scene);
      return bounded(looksForWords ? await searchOne(scene, session) : await read(scene, session));
    },
  });
