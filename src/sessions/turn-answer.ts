import type { OutboundMedia, Target } from '../core/message.ts';
import type { ExitReason } from '../core/turn.ts';
import { isSilentReply } from '../delivery/silence.ts';
import type { Outgoing } from '../delivery/compose.ts';

export interface TurnEnd {
  readonly reason: ExitReason;
  /** The sentence for the person when something went wrong. */
  readonly sentence?: string;
  readonly errorId?: string;
  /** What the model said last. */
  readonly text: string;
}

/** An answer that was cut short is worth showing by itself only if it says something. */
const worthShowing = 80;

const paragraphs = (...parts: readonly string[]): string => parts.filter((part) => part.trim() !== '').join('\n\n');

const textFor = (end: TurnEnd, previewed: boolean): string => {
  const trouble = end.sentence === undefined ? '' : `⚠️ ${end.sentence}${end.errorId === undefined ? '' : ` (${end.errorId})`}`;
  const cut = previewed || end.text.length >= worthShowing ? end.text : '';
  switch (end.reason) {
    case 'completed':
    case 'limit':
      return end.text;
    case 'silent':
    case 'suspended':
    case 'set_aside':
    case 'cut_off':
      return '';
    case 'interrupted':
      return cut === '' ? '' : paragraphs(cut, '— interrupted by your next message');
    case 'stopped':
      return cut === '' ? '' : paragraphs(cut, '— stopped');
    case 'deadline':
    case 'model_error':
    case 'internal_error':
      return paragraphs(end.text, trouble === '' ? '⚠️ Something went wrong.' : trouble);
    default:
      throw end.reason satisfies never;
  }
};

/** Whether the model chose to say nothing. */
export const isSilent = (end: TurnEnd): boolean => end.reason === 'completed' && isSilentReply(end.text);

/**
 * What people see of a turn. A preview that stands in the chat always gets an end, so that nothing half-written is left behind. With `tellSilence` the chat gets
 * the model's word for silence as well: a program waits for the end.
 */
export const answerOf = (end: TurnEnd, place: { target: Target; preview: string | undefined; media?: readonly OutboundMedia[]; tellSilence?: boolean }): Omit<Outgoing, 'key'> | undefined => {
  const text = isSilent(end) && place.tellSilence !== true ? '' : textFor(end, place.preview !== undefined);
  const files = place.media === undefined ? {} : { media: place.media };
  if (place.preview !== undefined) return { target: place.target, text: text.trim() === '' ? (place.media === undefined ? '—' : '📎') : text, finishes: place.preview, ...files };
  return text.trim() === '' && place.media === undefined ? undefined : { target: place.target, text, ...files };
};
