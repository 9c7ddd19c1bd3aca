import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleTarget } from '../../../../test/support/samples.ts';
import type { Answer, Question } from '../../../core/question.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ToolContext } from '../contract.ts';

/** The folders in which programs are looked for on any machine. */
export const programPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

export interface FakeContext extends ToolContext {
  readonly questions: Question[];
}

/** A turn of one conversation; questions are kept, and answered as told. */
export const fakeContext = (facts: Partial<Pick<ToolContext, 'sessionId' | 'asyncDelivery' | 'clock'>> & { readonly answer?: (question: Question) => Answer } = {}): FakeContext => {
  const questions: Question[] = [];
  return {
    sessionId: facts.sessionId ?? 's1',
    turnId: 't1',
    callId: 'c1',
    place: { agent: 'main', platform: 'telegram', target: sampleTarget(), sender: { id: 'ada', isBot: false } },
    clock: facts.clock ?? systemClock,
    asyncDelivery: facts.asyncDelivery ?? true,
    alive: () => undefined,
    async ask(question) {
      questions.push(question);
      return facts.answer?.(question) ?? { type: 'expired' };
    },
    questions,
  };
};

/** A folder that is gone at the end of the test. */
export const temporaryFolder = async (test: { after(step: () => Promise<void>): void }): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-terminal-')));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Waits for something that happens by itself, for as long as a slow machine may need. */
export const until = async (condition: () => boolean | Promise<boolean>, clock: Clock = systemClock): Promise<void> => {
  for (let i = 0; i < 4000; i += 1) {
    if (await condition()) return;
    await clock.sleep(5);
  }
  throw new Error(`this did not happen: ${condition.toString()}`);
};
