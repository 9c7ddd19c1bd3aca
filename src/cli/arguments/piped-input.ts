import { fstatSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';

/** Whether something is piped or redirected into us, which is then the text or belongs to it. */
const hasPipedInput = (): boolean => {
  if (process.stdin.isTTY) return false;
  const facts = fstatSync(0);
  return facts.isFIFO() || facts.isFile() || facts.isSocket();
};

/** All of it, without the end of its last line; empty when nothing is piped in. */
export const readPipedInput = async (): Promise<string> => (hasPipedInput() ? (await readAll(process.stdin)).trimEnd() : '');
