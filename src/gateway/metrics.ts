import type { MeteredCall } from '../agent/models/metered.ts';
import type { InboundEvent } from '../core/message.ts';
import { platformOf } from '../core/ids.ts';
import type { Usage } from '../core/transcript.ts';
import type { DeliveryOutcome } from '../delivery/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import { durationBuckets } from '../lib/metrics.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { FinishedTurn } from '../sessions/lanes.ts';
import { inboxCounts, oldestOpenMs } from '../store/messages/inbox.ts';
import { oldestDeliveryMs, outboxCounts } from '../store/messages/outbox.ts';
import type { Store } from '../store/store.ts';
import { accountStates, lastHeardMs } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import type { Outcome } from './arrival.ts';

export interface GatewayMetrics {
  accepted(event: InboundEvent, outcome: Outcome): void;
  finished(turn: FinishedTurn): void;
  /** A model has answered a call, whatever it was for. */
  readonly spent: (usage: Usage, call: MeteredCall) => void;
  delivered(outcome: DeliveryOutcome): void;
  /** A model was asked again. */
  retried(): void;
}

/** A turn may take up to two hours. */
const longBuckets = [120, 300, 600, 1200, 2400, 3600, 7200] as const;

/** Registers what the gateway counts. Labels are accounts, models and fixed words, never chats or people. */
export const gatewayMetrics = (metrics: Metrics, sources: { store: Store; clock: Clock; accounts(): readonly AccountStatus[] }): GatewayMetrics => {
  const inbound = metrics.counter({ name: 'hermes_inbound_total', help: 'Events from platforms by what became of them', labels: ['platform', 'account', 'outcome'] });
  const turns = metrics.counter({ name: 'hermes_turns_total', help: 'Finished turns by their reason', labels: ['reason'] });
  const turnSeconds = metrics.histogram({ name: 'hermes_turn_seconds', help: 'Time from the start of a turn to its commit', buckets: [...durationBuckets, ...longBuckets] });
  const tokens = metrics.counter({ name: 'hermes_tokens_total', help: 'Tokens by direction and by what the model was asked for', labels: ['direction', 'what'] });
  const cost = metrics.counter({ name: 'hermes_cost_usd_total', help: 'What models cost, in US dollars, as far as prices are known', labels: ['model', 'what'] });
  const retries = metrics.counter({ name: 'hermes_model_retries_total', help: 'Calls of a model that were made again' });
  const deliveries = metrics.counter({ name: 'hermes_deliveries_total', help: 'Attempts to deliver by their outcome', labels: ['platform', 'account', 'outcome', 'code'] });
  const callSeconds = metrics.histogram({ name: 'hermes_delivery_call_seconds', help: 'Time that a platform took to take a message', labels: ['platform', 'account'], buckets: durationBuckets });
  const open = metrics.gauge({ name: 'hermes_open', help: 'Messages and deliveries that are not settled', labels: ['what', 'state'] });
  const oldest = metrics.gauge({ name: 'hermes_oldest_open_seconds', help: 'Age of the oldest message without an answer' });
  const oldestDelivery = metrics.gauge({ name: 'hermes_oldest_delivery_seconds', help: 'Age of the oldest message that is still to be delivered' });
  const connected = metrics.gauge({ name: 'hermes_account_connected', help: '1 for an account that carries traffic', labels: ['account', 'state'] });
  const evidence = metrics.gauge({ name: 'hermes_account_last_evidence_seconds', help: 'Age of the last thing that an account received, or sign that it could; since the start of the gateway for one that never has', labels: ['account'] });
  const startedMs = sources.clock.now();
  metrics.collect(async () => {
    const [inbox, outbox, age, deliveryAge] = await sources.store
      .read(async (db) => [await inboxCounts(db), await outboxCounts(db), await oldestOpenMs(db), await oldestDeliveryMs(db)] as const)
      .catch((error: unknown) => {
        // What the store said before must not stand for now.
        open.clear();
        oldest.at().set(Number.NaN);
        oldestDelivery.at().set(Number.NaN);
        throw error;
      });
    for (const state of ['waiting', 'running', 'set_aside']) open.at('inbox', state).set(inbox[state] ?? 0);
    for (const state of ['pending', 'sending', 'unknown', 'failed']) open.at('outbox', state).set(outbox[state] ?? 0);
    oldest.at().set((age ?? 0) / 1000);
    oldestDelivery.at().set((deliveryAge ?? 0) / 1000);
  });
  metrics.collect(() => {
    connected.clear();
    evidence.clear();
    for (const status of sources.accounts()) {
      for (const state of accountStates) connected.at(status.account, state).set(status.state === state ? 1 : 0);
      evidence.at(status.account).set(Math.max(0, sources.clock.now() - (lastHeardMs(status) ?? startedMs)) / 1000);
    }
  });
  return {
    accepted: (event, outcome) => inbound.at(platformOf(event.account), event.account, outcome.accepted).inc(),
    finished: ({ result, ms }) => {
      turns.at(result.reason).inc();
      turnSeconds.at().observe(ms / 1000);
    },
    spent: (usage, { what, model }) => {
      tokens.at('input', what).inc(usage.inputTokens);
      tokens.at('output', what).inc(usage.outputTokens);
      if (usage.cost !== undefined) cost.at(model, what).inc(usage.cost.usd);
    },
    retried: () => retries.at().inc(),
    delivered: ({ account, outcome, code, callMs }) => {
      deliveries.at(platformOf(account), account, outcome, code ?? '').inc();
      callSeconds.at(platformOf(account), account).observe(callMs / 1000);
    },
  };
};
