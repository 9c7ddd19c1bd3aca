import { addressOf } from '../../agent/models/endpoints/create-provider.ts';
import { readBacklog } from '../../store/messages/backlog.ts';
import { span } from '../environment.ts';
import { withinTime } from '../process/within-time.ts';
import { askable } from './examination.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';

const answerMs = 3_000;
/** Signatures and tokens of most services allow five minutes. */
const tolerableMs = 120_000;

const fix = 'Set the clock; on Linux: sudo timedatectl set-ntp true';

/** How far our clock is ahead of another machine's, by the `Date` of any answer. */
const aheadOf = async (url: string, signal: AbortSignal): Promise<number | undefined> => {
  try {
    const answer = await withinTime(answerMs, signal, (inTime) => fetch(url, { method: 'HEAD', redirect: 'manual', signal: inTime }));
    const theirs = Date.parse(answer.headers.get('date') ?? '');
    return Number.isNaN(theirs) ? undefined : Date.now() - theirs;
  } catch {
    // Whether it can be reached is another check's question.
    signal.throwIfAborted();
    return undefined;
  }
};

/** Whether the machine's clock agrees with what was stored and with the model's machine. */
export const checkClock = async (examined: Examination, signal: AbortSignal): Promise<readonly Finding[]> => {
  const backlog = await askable(examined)?.read(readBacklog);
  if (backlog !== undefined && backlog.aheadMs > tolerableMs) return [broken(`The newest message was stored ${span(backlog.aheadMs)} in the future: the clock has been set back`, fix)];
  const model = examined.config?.sections.model;
  if (examined.offline || model === undefined || model.provider === 'demo') return [skipped('There is no other machine to compare with')];
  const ahead = await aheadOf(addressOf({ ...model, provider: model.provider }, model.endpoints).baseUrl, signal);
  if (ahead === undefined) return [skipped('The other machine does not say what time it is')];
  if (Math.abs(ahead) > tolerableMs) return [broken(`The clock is ${span(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`, fix)];
  return [ok(`The clock is right within ${span(Math.max(1000, Math.abs(ahead)))}`)];
};
