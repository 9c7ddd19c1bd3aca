import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Typing } from '../contract.ts';
import type { MatrixApi, Whoami } from './api.ts';

/** Longer than the pause until it is shown again. */
const shownMs = 25_000;

export interface TypingSign extends Typing {
  /** A message has come, or is coming: the sign would otherwise stay. Never rejects. */
  end(roomId: string, signal: AbortSignal): Promise<void>;
}

export interface TypingParts {
  readonly api: Pick<MatrixApi, 'typing'>;
  readonly me: (signal: AbortSignal) => Promise<Whoami>;
  readonly clock: Clock;
  readonly log: Logger;
}

export const newTyping = ({ api, me, clock, log }: TypingParts): TypingSign => {
  const shownUntil = new Map<string, number>();
  return {
    everyMs: 15_000,
    async show({ chatId }, signal) {
      const { userId } = await me(signal);
      shownUntil.set(chatId, clock.now() + shownMs);
      await api.typing(chatId, userId, { typing: true, timeout: shownMs }, signal);
    },
    async end(roomId, signal) {
      const untilMs = shownUntil.get(roomId);
      shownUntil.delete(roomId);
      if (untilMs === undefined || untilMs <= clock.now()) return;
      try {
        await api.typing(roomId, (await me(signal)).userId, { typing: false }, signal);
      } catch (error) {
        log.debug({ err: error, roomId }, 'matrix.typing_not_ended');
      }
    },
  };
};
