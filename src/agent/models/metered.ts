import type { Usage } from '../../core/transcript.ts';
import type { ModelProvider } from './contract.ts';
import type { AuxiliaryTask } from './options.ts';

/** What a call was for, and which model was asked; an empty name where nobody says. */
export interface MeteredCall {
  readonly what: AuxiliaryTask | 'turn';
  readonly model: string;
}

/** Watches over what calls cost. */
export interface SpendMeter {
  /** Rejects with `over_budget` when nothing more may be spent. */
  admit(): Promise<void>;
  /** A call has been answered. Never rejects. */
  spent(usage: Usage, call: MeteredCall): Promise<void>;
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
      if (usage !== undefined) await meter.spent(usage, { what: request.task ?? 'turn', model: request.model });
    }
  },
});
