import { z } from 'zod';
import { platformOf } from '../core/ids.ts';
import type { AccountName } from '../core/ids.ts';
import type { ChatType } from '../core/message.ts';

const mode = z.enum(['none', 'idle', 'daily', 'both']);

const policy = z.strictObject({
  mode: mode.default('none').describe('When a conversation starts anew by itself: never, after a pause, once a day, or either'),
  at_hour: z.int().min(0).max(23).default(4).describe('Hour of the daily reset, local time'),
  idle_minutes: z.number().min(0).default(1440).describe('Length of the pause'),
  notify: z.boolean().default(true).describe('Tell the chat about it'),
  notify_exclude_platforms: z.array(z.string()).default(['api_server', 'webhook']).describe('Platforms that are not told'),
  bg_process_max_age_hours: z.number().min(0).default(24).describe('A background process holds a reset back for this many hours after it was started; 0 for not at all'),
});

/** An override replaces the policy as a whole, so it has to say its mode. */
const override = policy.extend({ mode: mode.describe(policy.shape.mode.description ?? '') });

/** The keys of config.yaml that decide when a conversation starts anew by itself. */
export const resetSection = z.strictObject({
  session_reset: policy.prefault({}).describe('When conversations start anew by themselves'),
  reset_by_type: z.partialRecord(z.enum(['dm', 'group', 'channel', 'thread']), override).default({}).describe('The same for one type of chat'),
  reset_by_platform: z.record(z.string(), override).default({}).describe('The same for one platform or account; wins over the type'),
});

export type ResetPolicy = Readonly<z.infer<typeof policy>>;
export type ResetSection = Readonly<z.infer<typeof resetSection>>;

/** The account's policy, else its platform's, else the chat type's, else the general one. */
export const resetPolicyFor = (section: ResetSection, chat: { readonly account: AccountName; readonly type: ChatType }): ResetPolicy =>
  section.reset_by_platform[chat.account] ??
  section.reset_by_platform[platformOf(chat.account)] ??
  section.reset_by_type[chat.type] ??
  section.session_reset;

export interface SessionAge {
  readonly lastActiveMs: number;
  readonly nowMs: number;
  /** When the youngest of the session's running background processes began. */
  readonly processStartedMs?: number;
  /** IANA name; the process's own zone when absent. */
  readonly zone?: string;
}

export type ResetReason = 'idle' | 'daily';

/** Why the conversation starts anew with the message that has just come, or undefined: it goes on. */
export const resetReason = (rule: ResetPolicy, age: SessionAge): ResetReason | undefined => {
  if (rule.mode === 'none' || isHeldBack(rule, age)) return undefined;
  const idle = age.nowMs - age.lastActiveMs > rule.idle_minutes * 60_000;
  if (rule.mode !== 'daily' && idle) return 'idle';
  if (rule.mode !== 'idle' && age.lastActiveMs < lastDailyBoundaryMs(rule.at_hour, age)) return 'daily';
  return undefined;
};

const isHeldBack = (rule: ResetPolicy, { processStartedMs, nowMs }: SessionAge): boolean =>
  processStartedMs !== undefined && nowMs - processStartedMs < rule.bg_process_max_age_hours * 3_600_000;

/** Made on the local calendar: an hour that a clock change leaves out counts from its end, one that comes twice from its first time. */
const lastDailyBoundaryMs = (atHour: number, { nowMs, zone = Temporal.Now.timeZoneId() }: SessionAge): number => {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).toPlainDate();
  const boundaryMs = (day: Temporal.PlainDate): number =>
    day.toPlainDateTime({ hour: atHour }).toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;
  const todaysMs = boundaryMs(today);
  return todaysMs <= nowMs ? todaysMs : boundaryMs(today.subtract({ days: 1 }));
};
