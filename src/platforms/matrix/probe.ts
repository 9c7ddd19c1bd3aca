import { randomUUID } from 'node:crypto';
import { PlatformError } from '../../core/errors.ts';
import type { Receiving } from './receive.ts';
import { list, record, text } from './wire.ts';
import type { Json } from './wire.ts';

export const probeType = 'org.hermes.probe';

const everyMs = 5 * 60_000;
/** A homeserver of several processes may need one more answer than one of a single process. */
const patience = 3;

interface Probe {
  /** Looks whether the answer carries what was sent. Throws when the homeserver answers and delivers nothing. */
  look(answer: Json): void;
  send(signal: AbortSignal): Promise<void>;
}

/**
 * An empty answer shows that the homeserver lives, not that it delivers. So now and then the device writes to itself, where nobody
 * sees it, and expects to read that.
 */
export const newProbe = ({ api, me, clock, log }: Pick<Receiving, 'api' | 'me' | 'clock' | 'log'>): Probe => {
  let awaited: { readonly id: string; answers: number } | undefined;
  let sentMs = Number.NEGATIVE_INFINITY;
  return {
    look(answer) {
      if (awaited === undefined) return;
      const { id } = awaited;
      const arrived = list(record(answer['to_device'])?.['events']).map(record).some((event) => event?.['type'] === probeType && text(record(event['content'])?.['id']) === id);
      awaited.answers += 1;
      if (arrived) awaited = undefined;
      else if (awaited.answers >= patience) throw new PlatformError('unavailable', 'the homeserver answers, but does not deliver what we send to ourselves');
    },
    async send(signal) {
      if (me.deviceId === undefined || awaited !== undefined || clock.now() - sentMs < everyMs) return;
      sentMs = clock.now();
      const id = randomUUID();
      try {
        await api.sendToDevice(probeType, id, { [me.userId]: { [me.deviceId]: { id } } }, signal);
        awaited = { id, answers: 0 };
      } catch (error) {
        if (!(error instanceof PlatformError) || error.code === 'unavailable' || error.code === 'aborted') throw error;
        log.info({ err: error }, 'matrix.probe.refused');
      }
    },
  };
};
