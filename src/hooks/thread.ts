import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';
import { mostAnswerBytes } from './runner.ts';
import type { ThreadCall, ThreadData, ThreadWord } from './thread-words.ts';

type Handle = (event: string, context: unknown) => unknown;

const longestProblem = 300;
const { port, path } = workerData as ThreadData;
const say = (word: ThreadWord): void => port.postMessage(word);

/** Where a fault lies is worth more to the owner than the whole stack. */
const problemOf = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const place = error instanceof Error ? /\((file:.+)\)|at (file:.+)/.exec(error.stack ?? '') : null;
  return `${text.slice(0, longestProblem)}${place === null ? '' : ` (${(place[1] ?? place[2] ?? '').split('/').at(-1) ?? ''})`}`;
};

const isHandle = (value: unknown): value is Handle => typeof value === 'function';

const findHandle = (module: Readonly<Record<string, unknown>>): Handle | undefined => [module['handle'], module['default']].find(isHandle);

const answerWith = async (handle: Handle, { id, event, context }: ThreadCall): Promise<ThreadWord> => {
  let answer: unknown;
  try {
    answer = await handle(event, context);
  } catch (error) {
    return { type: 'failed', id, code: 'failed', problem: problemOf(error) };
  }
  try {
    const json = JSON.stringify(answer ?? null) ?? 'null';
    if (Buffer.byteLength(json) > mostAnswerBytes) return { type: 'failed', id, code: 'bad_answer', problem: `it answered with more than ${mostAnswerBytes / 1024} KB` };
    return { type: 'answer', id, json };
  } catch (error) {
    return { type: 'failed', id, code: 'bad_answer', problem: `its answer is not JSON: ${problemOf(error)}` };
  }
};

const begin = async (): Promise<void> => {
  const handle = findHandle((await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>);
  if (handle === undefined) return say({ type: 'broken', problem: 'it exports no function called handle' });
  port.on('message', (call: ThreadCall) => void answerWith(handle, call).then(say));
  say({ type: 'ready' });
};

try {
  await begin();
} catch (error) {
  say({ type: 'broken', problem: problemOf(error) });
}
