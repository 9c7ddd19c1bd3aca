import { z } from 'zod';
import type { ToolDefinition } from '../../models/contract.ts';
import { ToolError } from '../../tools/contract.ts';
import type { HonchoApi } from './api.ts';

/** Where a tool of Honcho's is called: about whom, and whether nobody else reads the answer. */
export interface HonchoPlace {
  readonly sessionId: string;
  readonly person: string;
  readonly isPrivate: boolean;
}

interface HonchoTool {
  readonly definition: ToolDefinition;
  run(args: Readonly<Record<string, unknown>>, at: { readonly api: HonchoApi; readonly place: HonchoPlace; readonly signal: AbortSignal }): Promise<string>;
}

type Scene = Parameters<HonchoTool['run']>[1];

const tool = <Args>(name: string, description: string, args: z.ZodType<Args>, run: (args: Args, at: Scene) => Promise<string>): HonchoTool => {
  const { $schema: _, ...parameters } = z.toJSONSchema(args, { io: 'input' });
  return {
    definition: { name, description, parameters },
    async run(given, at) {
      const parsed = args.safeParse(given);
      if (!parsed.success) throw new ToolError('bad_arguments', z.prettifyError(parsed.error));
      return run(parsed.data, at);
    },
  };
};

const query = z.object({ query: z.string().trim().min(1).max(2000).describe('What to look for, in words.') });

/** What is known about a person from their private conversations is not for the ears of others. */
const inPrivate = (place: HonchoPlace): void => {
  if (!place.isPrivate) throw new ToolError('unavailable', 'Several people read along here, and this may hold private things. Ask in a direct conversation, or use honcho_search, which keeps to this conversation.');
};

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

const tools: readonly HonchoTool[] = [
  tool('honcho_profile', 'Reads the short profile that the memory service keeps of the person you are talking to. Fast.', z.object({}), async (_, { api, place, signal }) => {
    inPrivate(place);
    const card = await api.peerCard(place.person, signal);
    return card.length === 0 ? 'There is no profile of this person yet.' : bullets(card);
  }),
  tool('honcho_search', 'Searches what the memory service remembers about the person you are talking to; where several people read along, only in this conversation. Fast.', query, async (args, { api, place, signal }) => {
    const found = place.isPrivate ? await api.findConclusions(place.person, args.query, signal) : (await api.searchSession(place.sessionId, args.query, signal)).map((message) => message.content.slice(0, 500));
    return found.length === 0 ? 'Nothing is remembered about that.' : bullets(found);
  }),
  tool('honcho_context', 'Asks the memory service a question about the person you are talking to and waits for its considered answer. Slow: use honcho_search first.', query, async (args, { api, place, signal }) => {
    const answer = await api.ask(place.person, { query: args.query, ...(!place.isPrivate && { sessionId: place.sessionId }) }, signal);
    return answer === '' ? 'The memory service does not know.' : answer;
  }),
  tool('honcho_conclude', 'Tells the memory service one lasting fact about the person you are talking to.', z.object({ conclusion: z.string().trim().min(1).max(2000).describe('One fact in one sentence.') }), async (args, { api, place, signal }) => {
    inPrivate(place);
    await api.addConclusion(place.person, { content: args.conclusion, sessionId: place.sessionId }, signal);
    return 'Remembered.';
  }),
];

export const honchoToolSchemas: readonly ToolDefinition[] = tools.map(({ definition }) => definition);

export const runHonchoTool = async (call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> }, at: Scene): Promise<string> => {
  const found = tools.find(({ definition }) => definition.name === call.name);
  if (found === undefined) throw new ToolError('bad_arguments', `The memory service has no tool named ${JSON.stringify(call.name.slice(0, 80))}.`);
  return found.run(call.args, at);
};
