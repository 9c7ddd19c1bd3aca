import { takeNamedLock } from '../store/locks/named-lock.ts';
import { canSharePorts } from './server.ts';

/** Which gateway of this user listens at a port. While it is ours, the next gateway of the same home may listen beside us, and nobody else. */
export interface PortHold {
  readonly sharing: 'nobody' | 'successor' | 'beside';
  /** Takes it over when the one before has gone. */
  take(): void;
  release(): void;
}

const unshared: PortHold = { sharing: 'nobody', take: () => undefined, release: () => undefined };

/** A port that a gateway of another home holds is not shared, so that opening it fails as it should. */
export const holdPort = (folder: string, at: { readonly home: string; readonly port: number }): PortHold => {
  if (!canSharePorts || at.port === 0) return unshared;
  const attempt = (): ReturnType<typeof takeNamedLock> => takeNamedLock(folder, `http-${at.port}`, { home: at.home });
  let lock = attempt();
  if (lock.type === 'taken' && lock.by.home !== at.home) return unshared;
  return {
    sharing: lock.type === 'taken' ? 'beside' : 'successor',
    take() {
      if (lock.type === 'taken') lock = attempt();
    },
    release() {
      if (lock.type === 'held') lock.release();
      lock = { type: 'taken', by: {} };
    },
  };
};
