import type { Usage } from '../../core/transcript.ts';
import type { ModelProvider } from './contract.ts';

/** Watches over what calls cost. */
export interface SpendMeter {
  /** Rejects with `over_budget` when nothing more may be spent. */
  admit(): Promise<void>;
  /** A call has been answered. Never rejects. */
  spent(usage: Usage): Promise<void>;
}

/** A provider whose every call is let through and counted. What a call has cost is kept after its answer is out: nobody waits for it. */
export const metered = (provider: ModelProvider, meter: SpendMeter): ModelProvider => ({
  name: provider.name,
  async *stream(request, signal) {
    await meter.admit();
    let usage: Usage | undefined;
    try {
      for await (const event of provider.stream(request, signal)) {
        if (event.type === 'finish') ({ usage } = event);
        yield event;
      }
    } finally {
      if (usage !== undefined) await meter.spent(usage);
    }
  },
});
