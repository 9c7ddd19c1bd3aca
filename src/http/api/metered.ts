import { addUsage, noUsage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import type { Job } from './work.ts';

/** The events of a turn; its cost is noted and the job done when they have ended, whoever ended them. */
export async function* metered(events: AsyncIterable<TurnEvent>, job: Job): AsyncGenerator<TurnEvent, void, undefined> {
  let usage = noUsage;
  try {
    for await (const event of events) {
      if (event.type === 'usage') usage = addUsage(usage, event.usage);
      yield event;
    }
  } finally {
    job[Symbol.dispose]();
    await job.spent(usage);
  }
}
