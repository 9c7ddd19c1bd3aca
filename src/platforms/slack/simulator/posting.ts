import { list, parseJson, record, records, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import type { Call } from './methods.ts';
import { Refusal } from './refusal.ts';
import type { ChannelMessage, SimulatedChannel } from './world.ts';

const maxText = 40_000;

const sectionProblem = (block: Json): string | undefined => {
  const content = record(block['text']);
  const words = text(content?.['text']);
  if (words === undefined || words.length > 3000) return 'section: text has to have 1 to 3000 characters';
  return content?.['type'] === 'mrkdwn' || content?.['type'] === 'plain_text' ? undefined : 'section: unknown kind of text';
};

const actionsProblem = (block: Json): string | undefined => {
  const elements = records(block['elements']);
  if (elements.length === 0 || elements.length > 25) return 'actions: 1 to 25 elements';
  const ids = elements.map((element) => text(element['action_id']));
  if (ids.includes(undefined) || new Set(ids).size !== ids.length) return 'actions: every element needs an action_id of its own';
  const bad = elements.some((element) => (text(record(element['text'])?.['text']) ?? '').length > 75 || (text(element['value']) ?? '').length > 2000);
  return bad ? 'actions: a label of more than 75 or a value of more than 2000 characters' : undefined;
};

const problemOf = (block: Json): string | undefined => {
  switch (block['type']) {
    case 'section':
      return sectionProblem(block);
    case 'actions':
      return actionsProblem(block);
    default:
      return `${String(block['type'])}: unknown kind of block`;
  }
};

/** Checks blocks as Slack does. */
export const readBlocks = (value: string | undefined): readonly Json[] => {
  if (value === undefined) return [];
  const given = parseJson(value);
  if (!Array.isArray(given) || given.length > 50) throw new Refusal('invalid_blocks_format');
  const blocks = records(list(given));
  const problem = blocks.map(problemOf).find((found) => found !== undefined);
  if (problem !== undefined) throw new Refusal('invalid_blocks', { response_metadata: { messages: [`[ERROR] ${problem}`] } });
  return blocks;
};

export const requireText = (args: Readonly<Record<string, string>>, blocks: readonly Json[]): string => {
  const words = args['text'] ?? '';
  if (words === '' && blocks.length === 0) throw new Refusal('no_text');
  if (words.length > maxText) throw new Refusal('msg_too_long');
  return words;
};

type Content = Pick<ChannelMessage, 'text'> & Partial<Pick<ChannelMessage, 'blocks' | 'mrkdwn' | 'threadTs' | 'files' | 'metadata' | 'reader' | 'subtype'>>;

/** Shows a message of ours. */
export const post = ({ world, team }: Pick<Call, 'world' | 'team'>, channel: SimulatedChannel, content: Content): ChannelMessage => {
  if (content.threadTs !== undefined && !channel.messages.has(content.threadTs)) throw new Refusal('thread_not_found');
  const message: ChannelMessage = { ts: world.nextTs(), user: team.botUserId, botId: team.botId, mrkdwn: true, blocks: [], files: [], edited: 0, reactions: new Map(), ...content };
  channel.messages.set(message.ts, message);
  return message;
};
