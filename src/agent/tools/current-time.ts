import { z } from 'zod';
import { ToolError } from './contract.ts';
import { defineTool } from './define-tool.ts';

const args = z.object({
  zone: z.string().trim().min(1).max(64).optional().describe('IANA time zone such as Europe/Berlin; the gateway’s own when left out.'),
});

const inZone = (nowMs: number, zone: string): Temporal.ZonedDateTime => {
  try {
    return Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ToolError('bad_arguments', `There is no time zone ${JSON.stringify(zone)}. Use an IANA name such as Europe/Berlin or UTC.`, { cause: error });
  }
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** What the clock on the wall says, in a form that needs no arithmetic from the model. */
export const currentTime = defineTool({
  name: 'current_time',
  description: 'Tells the current date and time, with weekday, week and UTC offset. Use it whenever the answer depends on what day or time it is.',
  args,
  parallelSafe: true,
  async run({ zone }, { clock }) {
    const now = inZone(clock.now(), zone ?? Temporal.Now.timeZoneId());
    const weekday = now.toLocaleString('en-GB', { weekday: 'long' });
    const month = now.toLocaleString('en-GB', { month: 'long' });
    return [
      `${weekday}, ${now.day} ${month} ${now.year}, ${pad(now.hour)}:${pad(now.minute)}:${pad(now.second)}`,
      `Time zone: ${now.timeZoneId} (UTC${now.offset}), week ${now.weekOfYear} of ${now.yearOfWeek}`,
      `ISO 8601: ${now.toString({ timeZoneName: 'never', smallestUnit: 'second' })}`,
    ].join('\n');
  },
});
