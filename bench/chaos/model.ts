import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { endEvents, streamHead, toolEvent, wordEvent } from '../model-server.ts';
import type { Answer, ModelMessage } from '../model-server.ts';
import type { Random } from './random.ts';
import { answerTo, asideOn, coveredIn, idsIn, placeAndNumber } from './words.ts';

/** Messages of people that no complete answer in the conversation covers yet, in order. */
const openIn = (messages: readonly ModelMessage[]): readonly string[] => {
  const asked = messages.filter(({ role }) => role === 'user').flatMap(({ content }) => idsIn(content ?? ''));
  const covered = new Set(messages.filter(({ role }) => role === 'assistant').flatMap(({ content }) => coveredIn(content ?? '')));
  return [...new Set(asked)].filter((id) => !covered.has(id));
};

/** Some messages need a tool first; half of those say something before. */
const wantsTool = (messages: readonly ModelMessage[], id: string): boolean => {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const { place, n } = placeAndNumber(id);
  return (place + n) % 9 === 4 && !messages.slice(last).some(({ role }) => role === 'tool');
};

/** The tool that is called for a message, with its arguments as JSON. */
export interface ToolToCall {
  readonly name: string;
  readonly arguments: string;
}

const currentTime: ToolToCall = { name: 'current_time', arguments: '{}' };

const callTool = (response: ServerResponse, id: string, tool: ToolToCall): void => {
  const before = placeAndNumber(id).n % 2 === 0 ? wordEvent(asideOn(id)) : '';
  response.writeHead(200, streamHead);
  response.end(`${before}${toolEvent({ id: `call_${id}`, ...tool })}${endEvents('tool_calls')}`);
};

interface Pace {
  readonly beforeMs: number;
  /** Between two words. */
  readonly wordMs: number;
}

/** Mostly at once, sometimes late, sometimes word by word, now and then so slowly that people see it grow. */
const paceOf = (random: Random): Pace => {
  const drawn = random.next();
  if (drawn < 0.65) return { beforeMs: 0, wordMs: 0 };
  if (drawn < 0.85) return { beforeMs: random.between(20, 150), wordMs: 0 };
  return { beforeMs: 0, wordMs: drawn < 0.95 ? random.between(30, 200) : random.between(400, 700) };
};

const speak = async (response: ServerResponse, text: string, pace: Pace): Promise<void> => {
  await sleep(pace.beforeMs);
  response.writeHead(200, streamHead);
  for (const word of text.match(/\S+\s*/g) ?? []) {
    response.write(wordEvent(word));
    if (pace.wordMs > 0) await sleep(pace.wordMs);
  }
  response.end(endEvents('stop'));
};

/** A model whose answer is a function of the conversation; only how fast it comes is left to chance. */
export const newModel =
  (random: Random, tool = currentTime): Answer =>
  async (messages, response) => {
    const open = openIn(messages);
    const last = open.at(-1);
    if (random.chance(0.02)) response.writeHead(503, { 'retry-after-ms': '30' }).end();
    else if (last !== undefined && wantsTool(messages, last)) callTool(response, last, tool);
    else await speak(response, answerTo(open), paceOf(random));
  };
