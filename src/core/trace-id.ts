import { createHash } from 'node:crypto';

const hex = (text: string, digits: number): string => createHash('sha256').update(text).digest('hex').slice(0, digits);

/** The trace of a turn as W3C Trace Context writes it: the same for every attempt, so that all of them are found together, and known to whoever knows the turn. */
export const traceIdOf = (turn: { readonly sessionId: string; readonly turnId: number }): string => hex(`${turn.sessionId}:${turn.turnId}`, 32);

/** The same for an event that no turn answered, a command say: by what its platform calls it. */
export const eventTraceIdOf = (event: { readonly account: string; readonly chatId: string; readonly nativeId: string; readonly kind: string }): string => hex([event.account, event.chatId, event.nativeId, event.kind].join('\n'), 32);

/** A span within a trace, by what makes it different from the others there. */
export const spanIdOf = (traceId: string, part: string): string => hex(`${traceId}:${part}`, 16);
