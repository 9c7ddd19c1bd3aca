import { addUsage, noUsage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import type { Job } from './work.ts';

/** The events of a turn of a conversation, whose cost is kept with its end; the job is done when they have ended, whoever ended them. */
export async function* jobOf(events: AsyncIterable<TurnEvent>, job: Job): AsyncGenerator<TurnEvent, void, undefined> {
  try {
    yield* events;
  } finally {
    job[Symbol.dispose]();
  }
}

/** The events of a turn of which nothing is kept; its cost is noted and the job done when they have ended, whoever ended them. */
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
